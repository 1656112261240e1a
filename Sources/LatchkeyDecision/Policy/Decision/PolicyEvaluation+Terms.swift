import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms

extension PolicyEvaluation {
    /// The terms by the policy, the output, and every earlier end. Refuses terms that cannot be stated or enforced.
    mutating func terms() -> LicenseTerms {
        checkSessionStore()
        var bounds = baseBounds
        for rule in [output].compactMap({ $0 }) {
            switch rule {
            case .allow: break
            case .refuse: refuse(.output, "The picture goes to \(destinationInWords), which is not licensed.")
            case .lease(let lease):
                if isStreaming {
                    bounds = bounds.narrowed(to: ValidityBounds(.lease(lease)))
                } else {
                    refuse(.output, "Keys are not stored while the picture goes to \(destinationInWords).")
                }
            }
        }
        if let longest = longestLease { shorten(&bounds, to: longest, "an engine that is out of service") }
        if let remaining {
            shorten(&bounds, to: remaining, "the end of the right")
            note(.remaining, "The right lasts for \(DurationText.text(remaining)).")
        }
        return LicenseTerms(bounds.validity, hdcp: hdcp())
    }

    private mutating func shorten(_ bounds: inout ValidityBounds, to longest: Duration, _ reason: String) {
        let shorter = bounds.ending(after: longest)
        if shorter != bounds {
            note(.shortened, "The license lasts for \(DurationText.text(longest)) at most, by \(reason).")
        }
        bounds = shorter
    }

    /// One note for everything that is counted in the session store.
    private mutating func checkSessionStore() {
        guard needsAccount, isOut(.sessionStore, policy.outage.sessionStore ?? Policy.Outage.usual) else { return }
        note(.outage, "This node applies limits only to sessions that it knows; every other node may grant as many.")
    }

    private var baseBounds: ValidityBounds {
        var bounds = ValidityBounds(policy.validity.type ?? .unlimited)
        // A stream of an account that may not download gets the same times without storage.
        guard !isStreaming else { return mayDownload ? bounds : bounds.withoutStorage }
        if !bounds.isStored { bounds = ValidityBounds(.persistent) }
        let download = policy.download
        bounds.storage = [bounds.storage, download.storage].compactMap { $0 }.min()
        bounds.playback = [bounds.playback, download.playback].compactMap { $0 }.min()
        return bounds
    }

    private var output: OutputRule? {
        switch request.destination {
        case .device: nil
        case .airPlay: policy.output.airPlay ?? .allow
        case .digitalAVAdapter: policy.output.adapter ?? .allow
        }
    }

    private var destinationInWords: String {
        switch request.destination {
        case .device: "the device"
        case .airPlay: "AirPlay"
        case .digitalAVAdapter: "a digital adapter"
        }
    }

    /// The stricter of two; `nil` is the device's choice, which is as strict as type 0.
    private static func stricter(_ one: HDCPRequirement?, _ other: HDCPRequirement?) -> HDCPRequirement? {
        let strictness = { (hdcp: HDCPRequirement?) in (hdcp ?? .type0).strictness }
        guard strictness(one) == strictness(other) else { return strictness(one) > strictness(other) ? one : other }
        return one ?? other
    }

    /// The requirement of the key's class; a key for everything needs the strictest.
    private mutating func hdcp() -> HDCPRequirement? {
        let stated = policy.output.hdcp ?? [:]
        let classes = facts.key.track == .all ? TrackClass.allCases : [facts.key.track]
        let hdcp = classes.map { stated[$0] }.reduce(stated[facts.key.track]) { Self.stricter($0, $1) }
        if hdcp == .type1, !request.capabilities.contains(.hdcpEnforcement) {
            refuse(.output, "The key needs HDCP type 1, but the device does not state that it enforces it.")
        }
        return hdcp
    }
}
