import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@Suite struct FileKeyStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-\(UUID().uuidString)")
    private let item = StoredItem(rawValue: "one.key") ?? .index

    private func withStore(_ body: (FileKeyStore) async throws -> Void) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(FileKeyStore(folder: folder))
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test func `nothing is made before something is written`() async throws {
        try await withStore { store in
            #expect(try await store.items().isEmpty)
            #expect(try await store.bytes(of: .index) == nil)
            try await store.remove(.index)
            #expect(!FileManager.default.fileExists(atPath: folder.path))
        }
    }

    @Test func `an item is what was last written, and readable by its owner alone`() async throws {
        try await withStore { store in
            for text in ["first, and longer", "second", ""] {
                try await store.write(Secret(text), to: item)
                #expect(try await store.bytes(of: item) == Secret(text))
            }
            #expect(try await store.items() == [item])
            #expect(try mode(folder.path) == 0o700)
            #expect(try mode(folder.path + "/one.key") == 0o600)
            try await store.remove(item)
            #expect(try await store.items().isEmpty)
        }
    }

    @Test func `a folder that was open to others is closed, and one that was removed is made again`() async throws {
        try await withStore { store in
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            try await store.write(Secret("one"), to: item)
            #expect(try mode(folder.path) == 0o700)
            try FileManager.default.removeItem(at: folder)
            try await store.write(Secret("two"), to: item)
            #expect(try await store.bytes(of: item) == Secret("two"))
        }
    }

    @Test func `files of others in the folder are left alone, and half written ones are not`() async throws {
        try await withStore { store in
            let keys = OfflineKeys(store, timekeeper: ManualTimekeeper())
            try await keys.request("movie", keys: [sd])
            for name in ["letter.txt", "left.key", "left.key.new", "index.json.new"] {
                try Data("left".utf8).write(to: folder.appending(path: name))
            }
            _ = try await OfflineKeys(store, timekeeper: ManualTimekeeper()).assets()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(Set(names) == ["index.json", "letter.txt"])
        }
    }

    @Test func `what cannot be written is an error that names no path`() async throws {
        try await withStore { store in
            try Data().write(to: folder)
            let error = await #expect(throws: OfflineError.self) { try await store.write(Secret("one"), to: item) }
            #expect(error?.kind == .storeUnwritable)
            #expect(error?.description.contains(folder.lastPathComponent) == false)
        }
    }

    @Test func `a link is not followed`() async throws {
        try await withStore { store in
            try await store.write(Secret("one"), to: item)
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/two.key", withDestinationPath: folder.path + "/one.key")
            let link = try #require(StoredItem(rawValue: "two.key"))
            let error = await #expect(throws: OfflineError.self) { try await store.bytes(of: link) }
            #expect(error?.kind == .storeUnreadable)
        }
    }
}
