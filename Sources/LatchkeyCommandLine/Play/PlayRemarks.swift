import LatchkeyHLS
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTerminal

/// Remarks of `latchkey play`: errors and oddities of the playlists, and parts that were not played.
struct PlayRemarks {
    /// Errors and warnings, as `latchkey doctor` has them.
    let checks: [Checkup]
    /// The parts that were not played; `nil` if everything was.
    let notLookedAt: String?

    /// Reads every playlist of a stream.
    init(on address: String, _ web: WebResources, _ delivery: DeliveryWatch, played report: StreamReport?) async {
        do {
            let found = try await KeyDiscovery(web).keys(at: address)
            self.init(found, delivery, played: report)
        } catch {
            self.init(
                checks: delivery.findings.checks + Self.media(report),
                notLookedAt: "the other playlists (\(Failure(error).reason))")
        }
    }

    /// The vendor's documented rules whose breach a service noticed.
    init(brokenAt service: any VendorService) {
        let checks = service.brokenRules.map { name, text in
            Checkup.error(.license, name, text, "Correct the source. latchkey serve --lenient \(name) lets it pass.")
        }
        self.init(checks: checks, notLookedAt: nil)
    }

    private init(checks: [Checkup], notLookedAt: String?) {
        (self.checks, self.notLookedAt) = (checks, notLookedAt)
    }

    init(_ found: DiscoveredKeys, _ delivery: DeliveryWatch, played report: StreamReport?) {
        let missing = found.failures.prefix(4).map {
            Checkup(.playlist, Failure($0.error), about: "A playlist is missing").asWarning
        }
        checks = missing + PlaylistChecks(found).checks + delivery.findings.checks + Self.media(report)
        let count = found.playlists.count { $0.playlist.kind == .media }
        var left: [String] = []
        if let report, report.playback != nil {
            if report.playlistCount < count {
                left.append(
                    "\(count - report.playlistCount) of \(count) media playlists, which latchkey doctor looks at")
            }
            if report.playback?.isComplete == false { left.append("everything after the played segments") }
        }
        notLookedAt = left.isEmpty ? nil : left.joined(separator: "; ")
    }

    /// The rules of Apple's players that the played segments break.
    private static func media(_ report: StreamReport?) -> [Checkup] {
        (report?.playback?.findings ?? []).map { Checkup(.media, $0, about: nil) }
    }

    var hasError: Bool { checks.contains { $0.result == .error } }
}
