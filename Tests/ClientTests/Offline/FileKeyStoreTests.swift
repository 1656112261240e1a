import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct FileKeyStoreTests {
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

    @Test func `nothing is created before the first write`() async throws {
        try await withStore { store in
            #expect(try await store.items().isEmpty)
            #expect(try await store.bytes(of: .index) == nil)
            try await store.remove(.index)
            #expect(!FileManager.default.fileExists(atPath: folder.path))
        }
    }

    @Test func `an item holds its last write and is readable only by its owner`() async throws {
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

    @Test func `a folder open to others is closed, and a removed one is recreated`() async throws {
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

    @Test func `others' files in the folder are kept; half-written ones are not`() async throws {
        try await withStore { store in
            let keys = OfflineKeys(store, timekeeper: ManualTimekeeper())
            try await keys.register("movie", keys: [sd])
            for name in ["letter.txt", "left.key", "left.key.new", "index.json.new"] {
                try Data("left".utf8).write(to: folder.appending(path: name))
            }
            _ = try await OfflineKeys(store, timekeeper: ManualTimekeeper()).assets()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(Set(names) == ["index.json", "letter.txt"])
        }
    }

    @Test func `a failed write is an error that names no path`() async throws {
        try await withStore { store in
            try Data().write(to: folder)
            let error = await #expect(throws: OfflineError.self) { try await store.write(Secret("one"), to: item) }
            #expect(error?.kind == .keyStoreUnwritable)
            #expect(error?.description.contains(folder.lastPathComponent) == false)
        }
    }

    @Test func `links are not followed`() async throws {
        try await withStore { store in
            try await store.write(Secret("one"), to: item)
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/two.key", withDestinationPath: folder.path + "/one.key")
            let link = try #require(StoredItem(rawValue: "two.key"))
            let error = await #expect(throws: OfflineError.self) { try await store.bytes(of: link) }
            #expect(error?.kind == .keyStoreUnreadable)
        }
    }

    /// The calls to the system, in order, with the bytes of the new file at that time.
    private func calls(_ log: Locked<[String]>, failing: String? = nil) -> FileCalls {
        let (new, old) = (folder.path + "/one.key.new", folder.path + "/one.key")
        @Sendable func seen(_ call: String) -> Bool {
            let bytes = [("new", new), ("old", old)].compactMap { name, path in
                (try? String(contentsOfFile: path, encoding: .utf8)).map { "\(name)=\($0)" }
            }
            log.withLock { $0.append(([call] + bytes).joined(separator: " ")) }
            return call != failing
        }
        return FileCalls(
            synchronize: { file in
                let isFolder = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file)"))
                    .map { $0.hasSuffix(".new") == false }
                return seen(isFolder == true ? "flush folder" : "flush file") && FileCalls.flush(file)
            },
            rename: { seen("rename") && FileCalls.move($0, $1) })
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")))
    func `a file's bytes reach the disk before it replaces the old one, and the names after that`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = Locked<[String]>([])
        let store = FileKeyStore(folder: folder, system: calls(log), before: { _ in })
        try await store.write(Secret("first"), to: item)
        try await store.write(Secret("second"), to: item)
        #expect(
            log.withLock { $0 } == [
                "flush file new=first", "rename new=first", "flush folder old=first",
                "flush file new=second old=first", "rename new=second old=first", "flush folder old=second",
            ])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a system that takes no byte without an error ends a write, whatever it said before`() async {
        defer { try? FileManager.default.removeItem(at: folder) }
        let system = FileCalls(write: { _, _ in
            errno = EINTR
            return 0
        })
        let store = FileKeyStore(folder: folder, system: system, before: { _ in })
        let error = await #expect(throws: OfflineError.self) { try await store.write(Secret("first"), to: item) }
        #expect(error?.kind == .keyStoreUnwritable)
    }

    @Test func `an interrupted or partial write continues`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let calls = Locked(0)
        let system = FileCalls(write: { file, bytes in
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            guard number.isMultiple(of: 2) else {
                errno = EINTR
                return -1
            }
            return FileCalls.put(file, UnsafeRawBufferPointer(rebasing: bytes.prefix(2)))
        })
        let store = FileKeyStore(folder: folder, system: system, before: { _ in })
        try await store.write(Secret("first"), to: item)
        #expect(try await store.bytes(of: item)?.revealedText == "first" && calls.withLock { $0 } == 6)
    }

    @Test(arguments: ["flush file", "rename"])
    func `if the disk refuses the bytes, the old ones stay and nothing is left behind`(call: String)
        async throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await FileKeyStore(folder: folder).write(Secret("first"), to: item)
        let store = FileKeyStore(folder: folder, system: calls(Locked([]), failing: call), before: { _ in })
        let error = await #expect(throws: OfflineError.self) { try await store.write(Secret("second"), to: item) }
        #expect(error?.kind == .keyStoreUnwritable)
        #expect(try await store.bytes(of: item) == Secret("first"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["one.key"])
    }

    @Test func `a key is read again from its start`() async throws {
        try await withStore { store in
            let bytes = Secret((0..<70_000).map { UInt8(truncatingIfNeeded: $0) })
            try await store.write(bytes, to: item)
            for _ in 1...2 { #expect(try await store.bytes(of: item) == bytes) }
        }
    }
}
