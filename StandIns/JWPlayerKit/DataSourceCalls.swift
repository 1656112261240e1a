import Dispatch
import Foundation
import StandInEngine
import StandInPlayers

extension WeakDataSource<any JWDRMContentKeyDataSource> {
    convenience init(on stage: StandInStage) { self.init("contentKeyDataSource", on: stage) }

    private var calls: CompletionHooks.Calls {
        CompletionHooks.Calls(
            names: ("contentIdentifierForURL", "appIdentifierForURL", "contentKeyWithSPCData"),
            identifier: { [self] url, answer in call { $0.contentIdentifierForURL(url) { answer.give($0) } } },
            certificate: { [self] url, answer in call { $0.appIdentifierForURL(url) { answer.give($0) } } },
            key: { [self] spc, answer in
                call {
                    $0.contentKeyWithSPCData(spc) { answer.give(.init($0, renewalDate: $1, contentType: $2)) }
                }
                dropIfMisbehaving()
            })
    }

    func hooks(on queue: DispatchQueue, _ stage: StandInStage) -> CompletionHooks {
        CompletionHooks(calls, on: queue, stage) { JWError($0) }
    }
}
