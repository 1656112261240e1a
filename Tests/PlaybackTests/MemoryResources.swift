import Foundation
import LatchkeyCore
import LatchkeyPlayback
import LatchkeySimulation

/// Resources in memory, under `https://media.example/`. Counts requests.
final class MemoryResources: ResourceFetching {
    private struct State {
        var requests: [String] = []
        var underWay = 0
        var mostUnderWay = 0
    }

    private let files: [String: Data]
    private let redirects: [String: String]
    private let state = Locked(State())

    /// - Parameters:
    ///   - files: the contents by path.
    ///   - redirects: the target path by path.
    init(_ files: [String: Data], redirects: [String: String] = [:]) {
        self.files = files
        self.redirects = redirects
    }

    /// Playlists as text, and files of the demo asset under their own paths.
    convenience init(playlists: [String: String], media: [String] = [], of asset: DemoAsset = .twoKeys) throws {
        var files = playlists.mapValues { Data($0.utf8) }
        for path in media { files[path] = try Data(contentsOf: asset.directory.appending(path: path)) }
        self.init(files)
    }

    static func address(_ path: String) -> String { "https://media.example/\(path)" }

    /// The requested paths in order.
    var requests: [String] { state.withLock { $0.requests } }
    var mostUnderWay: Int { state.withLock { $0.mostUnderWay } }

    func resource(at address: String, range: Range<Int>?, limit: Int) async throws -> FetchedResource {
        let asked = String(address.dropFirst(Self.address("").count))
        let path = redirects[asked] ?? asked
        state.withLock { state in
            state.requests.append(asked)
            state.underWay += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay)
        }
        defer { state.withLock { $0.underWay -= 1 } }
        for _ in 0..<10 { await Task.yield() }
        guard let file = files[path] else { throw MemoryResourceMissing(path: path) }
        let bytes = range.map { file.dropFirst($0.lowerBound).prefix($0.count) } ?? file[...]
        return FetchedResource(bytes: Data(bytes), address: Self.address(path))
    }
}

struct MemoryResourceMissing: Error, Equatable {
    let path: String
}
