import Latchkey
import LatchkeyCore

/// The requests for credentials that an app got.
final class AskedCredentials: Sendable {
    private let requests = Locked<[Credentials.Request]>([])

    var all: [Credentials.Request] { requests.withLock { $0 } }
    /// The requests for licenses.
    var licenses: [Credentials.Request] { all.filter { $0.stage == .license } }
    /// The titles that licenses were asked for.
    var assets: Set<AssetID?> { Set(licenses.map(\.asset)) }

    func add(_ request: Credentials.Request) { requests.withLock { $0.append(request) } }

    /// The keys of a title's licenses.
    func keys(of asset: AssetID) -> Set<KeyURI> { Set(licenses.filter { $0.asset == asset }.compactMap(\.key)) }
}
