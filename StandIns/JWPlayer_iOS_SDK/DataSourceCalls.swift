import Foundation
import StandInEngine
import StandInPlayers

extension WeakDataSource<any JWDrmDataSource> {
    convenience init(on stage: StandInStage) { self.init("drmDataSource", on: stage) }

    /// - Parameter asksForIdentifiers: whether the player asks for content identifiers.
    func calls(asksForIdentifiers: Bool) -> CompletionHooks.Calls {
        let identifier: @Sendable (URL, SingleAnswer<Data?>) -> Void = { [self] url, answer in
            call { $0.fetchContentIdentifier(forRequest: url, for: .fairPlay) { answer.give($0) } }
        }
        return CompletionHooks.Calls(
            names: ("fetchContentIdentifier", "fetchAppIdentifier", "fetchContentKey"),
            identifier: asksForIdentifiers ? identifier : nil,
            certificate: { [self] url, answer in
                call { $0.fetchAppIdentifier(forRequest: url, for: .fairPlay) { answer.give($0) } }
            },
            key: { [self] spc, answer in
                call {
                    $0.fetchContentKey(withRequest: spc, for: .fairPlay) {
                        answer.give(.init($0, renewalDate: $1, contentType: $2))
                    }
                }
                dropIfMisbehaving()
            })
    }
}
