import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms

extension PolicyEvaluation {
    mutating func checkRate() {
        guard let limit = policy.limits.licensesPerMinute, let minute = account.minute else { return }
        let left = Duration.seconds(60) - now.since(minute.began)
        guard left > .zero, minute.licenses >= limit else { return }
        refuse(
            .policy(.rateLimit), "The account had \(minute.licenses) licenses in this minute; its limit is \(limit).",
            retryAfter: min(left, .seconds(60)))
    }

    mutating func checkToken() {
        _ = isOut(.callout, policy.outage.callout ?? .refuse)
        if let contents = grant.contents, !contents.contains(facts.key.content) {
            refuse(.notCovered, "The token is for other content.")
        }
        if let keys = grant.keys, !keys.contains(where: { KeyID($0) != nil && KeyID($0) == facts.key.id }) {
            refuse(.notCovered, "The token is for other keys.")
        }
        if let expires = grant.expires, now >= expires {
            refuse(.tokenExpired, "The token expired at \(DateText.text(expires)).")
        }
        if let longest = policy.token.maxAge {
            if let issued = grant.issued {
                let age = now.since(issued)
                if age > longest { refuse(.tokenExpired, "The token is older than \(DurationText.text(longest)).") }
            } else {
                refuse(
                    .tokenMalformed,
                    "The token has no issue time, and may be at most \(DurationText.text(longest)) old.")
            }
        }
        checkAddressOfToken()
        checkUseOfToken()
    }

    private mutating func checkAddressOfToken() {
        if let bound = grant.address {
            if request.address.map({ bound.contains($0) }) != true {
                refuse(.notCovered, "The token is for another address.")
            }
        } else if policy.token.bindIP == true {
            refuse(.notCovered, "The token must name an address.")
        }
    }

    private mutating func checkUseOfToken() {
        guard policy.token.singleUse == true else { return }
        guard grant.tokenID?.isEmpty == false else {
            refuse(.tokenMalformed, "The token has no identifier, which single-use tokens need.")
            return
        }
        // In an outage the use is known if it was at this node.
        _ = isOut(.tokenStore, policy.outage.tokenStore ?? Policy.Outage.usual)
        guard let use = account.tokenUse else { return }
        let reuse = policy.token.reuse ?? Policy.Token.usualReuse
        if use.session != session {
            refuse(.tokenUsed, "The token was used in another session.")
        } else if reuse == .zero || now.since(use.first) > reuse {
            refuse(.tokenUsed, "The token was used more than \(DurationText.text(reuse)) ago.")
        }
    }

    mutating func checkBlocks() {
        for block in account.blocks where block.isInForce(at: now) { refuse(block.objection, block.words) }
        check("user", grant.account, grant.profile, against: policy.blocked.users)
        check("device", request.device, grant.device, against: policy.blocked.devices)
        check("token", grant.tokenID, against: policy.blocked.tokens)
        check("content", facts.key.content, against: policy.blocked.contents)
    }

    private mutating func check(
        _ what: String, _ name: String?, _ other: String? = nil, against blocked: Set<String>?
    ) {
        guard let blocked, name.map(blocked.contains) == true || other.map(blocked.contains) == true else { return }
        refuse(.blocked, "The \(what) is blocked.")
    }

    mutating func checkTime() {
        let validity = policy.validity
        if let begin = validity.begin, now < begin { refuse(.notBegun, "Licenses begin at \(DateText.text(begin)).") }
        if let end = validity.end, now >= end { refuse(.ended, "Licenses ended at \(DateText.text(end)).") }
        if let window = validity.afterFirstPlay, let first = account.firstPlays[content], now >= first.adding(window) {
            refuse(.ended, "The content was first played more than \(DurationText.text(window)) ago.")
        }
    }

    /// The time until the earliest end; `nil` without an end. At least 1 s, the shortest time that a CKC can state.
    var remaining: Duration? {
        let ends = [
            policy.validity.end, policy.validity.afterFirstPlay.map { (account.firstPlays[content] ?? now).adding($0) },
        ].compactMap { $0 }
        return ends.min().map { max(.seconds(1), Duration.seconds($0.since(now).components.seconds)) }
    }

    var mayDownload: Bool { policy.download.allow ?? ValidityBounds(policy.validity.type ?? .unlimited).isStored }

    mutating func checkRights() {
        switch request.purpose {
        case .stream: if policy.stream.allow == false { refuse(.right, "Streaming is not granted.") }
        case .download:
            if !mayDownload { refuse(.right, "Downloads are not granted.", section: .download) }
        case .renewStored:
            if !mayDownload || policy.download.renew == false {
                refuse(.right, "Renewals of stored keys are not granted.", section: .download)
            }
        }
    }

    mutating func checkPlace() {
        checkCountry()
        if policy.place.anonymizers == .refuse, request.isAnonymized == true {
            refuse(.place, "The address hides its location.")
        }
        if let allowed = policy.place.addresses,
            request.address.map({ address in allowed.contains { $0.contains(address) } }) != true
        {
            refuse(.place, "The address is not among those allowed.")
        }
        if let denied = policy.place.denyAddresses, let address = request.address,
            denied.contains(where: { $0.contains(address) })
        {
            refuse(.place, "The address is denied.")
        }
    }

    private mutating func checkCountry() {
        let (allow, deny) = (policy.place.allow, policy.place.deny ?? [])
        guard allow != nil || !deny.isEmpty else { return }
        let isTrusted = (policy.place.trust ?? request.countrySource) == request.countrySource
        guard let country = request.country, isTrusted else {
            if let rule = policy.outage.geo, isOut(.geo, rule) { return }
            if policy.place.whenUnknown != .allow { refuse(.place, "The viewer's country is unknown.") }
            return
        }
        if deny.contains(country) {
            refuse(.place, "Licenses are denied in \(country.prefix(2).uppercased().onOneLine).")
        } else if let allow, !allow.contains(country) {
            refuse(.place, "Licenses are not granted in \(country.prefix(2).uppercased().onOneLine).")
        }
    }

    mutating func checkClient() {
        let missing = Policy.Ability.allCases.filter {
            policy.client.requires?.contains($0) == true && !request.capabilities.contains($0.flag)
        }
        if !missing.isEmpty {
            refuse(.client, "The device does not state \(missing.map(\.rawValue).joined(separator: ", ")).")
        }
        // The rule is about FairPlay's protocol, and says nothing of the others.
        let hasProtocol = request.drm == .fairPlay || request.drm == .clearKey
        if let versions = policy.client.protocolVersions, hasProtocol,
            request.protocolVersion.map(versions.contains) != true
        {
            refuse(.client, "The device uses another version of the protocol.")
        }
    }

    mutating func checkTracks() {
        guard let allow = policy.tracks.allow, !allow.contains(facts.key.track) else { return }
        refuse(
            .policy(.track), "Keys of class \(facts.key.track.rawValue) are not licensed.",
            leavesOut: policy.tracks.otherwise == .leaveOut)
    }

    mutating func checkDevices() {
        if let allow = policy.devices.allow,
            ![request.device, grant.device].contains(where: { $0.map(allow.contains) == true })
        {
            refuse(.deviceLimit, "The device is not among those allowed.")
        }
        // A renewal of running playback never counts as a new device.
        guard let limit = policy.devices.limit, request.playback != .leaseExpiring else { return }
        let window = policy.devices.window ?? Policy.Devices.usualWindow
        let counted = account.devices.filter { now.since($0.value) < window && $0.key != device }.count
        let isKnown = device.flatMap { account.devices[$0] }.map { now.since($0) < window } ?? false
        if !isKnown, counted >= limit {
            refuse(.deviceLimit, "The account has \(counted) devices; its limit is \(limit).")
        }
    }

    mutating func checkDownloads() {
        guard request.purpose == .download else { return }
        let downloads = account.downloads.filter { $0.ends.map { now < $0 } ?? true }
        guard !downloads.contains(where: { isOwn($0) }) else { return }
        let ofTitle = downloads.count { $0.content == content }
        if let limit = policy.download.perTitle, ofTitle >= limit {
            refuse(.downloadLimit, "The content is on \(ofTitle) devices; the limit is \(limit).")
        }
        if let limit = policy.download.perAccount, downloads.count >= limit {
            refuse(.downloadLimit, "The account has \(downloads.count) downloads; its limit is \(limit).")
        }
    }

    /// Whether a download is of this content on this device.
    func isOwn(_ download: StoredDownload) -> Bool {
        download.content == content && download.device == downloadDevice
    }

    /// A device without a name is the session that asks.
    var downloadDevice: String { device ?? session ?? "" }

    var isSessionStoreOut: Bool { account.outages.contains(.sessionStore) }
}
