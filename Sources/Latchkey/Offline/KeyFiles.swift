import Foundation
import LatchkeyCore

/// The work of a `FileKeyStore` on its queue.
struct KeyFiles: Sendable {
    /// The largest file that is read, in bytes: an index of many thousand keys.
    static let largestFile = 1 << 25
    /// The suffix of a file that is being written.
    private static let newEnding = ".new"

    let folder: URL
    let protection: FileKeyStore.Protection
    let system: FileCalls
    let willDo: @Sendable (FileStep) -> Void
    /// Whether this process has set up the folder.
    private let isSetUp = Locked(false)

    init(
        folder: URL, protection: FileKeyStore.Protection, system: FileCalls,
        willDo: @escaping @Sendable (FileStep) -> Void
    ) {
        self.folder = folder
        self.protection = protection
        self.system = system
        self.willDo = willDo
    }

    /// The files of a store, including files that a crash left half written; other files in the folder are ignored.
    func items() throws(OfflineError) -> Set<StoredItem> {
        guard access(folder.path, F_OK) == 0 else {
            guard errno == ENOENT else { throw .file(.keyStoreUnreadable, "The folder") }
            return []
        }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
            throw OfflineError(.keyStoreUnreadable, "The folder of the stored keys cannot be listed.")
        }
        let ours = names.filter {
            $0 == StoredItem.index.rawValue || $0.hasSuffix(StoredItem.keyEnding) || $0.hasSuffix(Self.newEnding)
        }
        return Set(ours.compactMap(StoredItem.init(rawValue:)))
    }

    func bytes(of item: StoredItem) throws(OfflineError) -> Secret? {
        let file = open(path(item), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            guard errno == ENOENT else { throw .file(.keyStoreUnreadable, item.rawValue) }
            return nil
        }
        defer { close(file) }
        // Not `fstat`, whose use Apple's systems want justified in a privacy manifest.
        let size = Int(lseek(file, 0, SEEK_END))
        guard size >= 0, lseek(file, 0, SEEK_SET) == 0 else { throw .file(.keyStoreUnreadable, item.rawValue) }
        guard size <= Self.largestFile else {
            throw OfflineError(.keyStoreUnreadable, "\(item.rawValue) has \(size) bytes.")
        }
        return try read(size, from: file, item)
    }

    /// Writes a file next to the old one and then replaces the old one, each step on the disk before the next.
    func write(_ bytes: Secret, to item: StoredItem) throws(OfflineError) {
        try setUpFolder()
        let new = path(item) + Self.newEnding
        do throws(OfflineError) {
            try writeNew(bytes, to: new, item)
            willDo(.rename(item))
            guard system.rename(new, path(item)) else { throw .file(.keyStoreUnwritable, item.rawValue) }
        } catch {
            unlink(new)
            throw error
        }
        try synchronizeFolder()
    }

    func remove(_ item: StoredItem) throws(OfflineError) {
        willDo(.remove(item))
        guard unlink(path(item)) == 0 || errno == ENOENT else { throw .file(.keyStoreUnwritable, item.rawValue) }
    }

    private func path(_ item: StoredItem) -> String { folder.appendingPathComponent(item.rawValue).path }
}

// MARK: - Steps

extension KeyFiles {
    /// Once per process, so that an existing folder is as private as a new one; and again if it was removed.
    private func setUpFolder() throws(OfflineError) {
        guard !isSetUp.withLock({ $0 }) || access(folder.path, W_OK) != 0 else { return }
        willDo(.setUpFolder)
        do {
            let files = FileManager.default
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
            #if canImport(Darwin) && !os(macOS)
                // Files created in the folder inherit this.
                try files.setAttributes([.protectionKey: protection.type], ofItemAtPath: folder.path)
            #endif
            #if canImport(Darwin)
                var (place, values) = (folder, URLResourceValues())
                values.isExcludedFromBackup = true
                try place.setResourceValues(values)
            #endif
        } catch {
            throw OfflineError(.keyStoreUnwritable, "The folder of the stored keys cannot be made or set up.")
        }
        isSetUp.withLock { $0 = true }
    }

    private func writeNew(_ bytes: Secret, to path: String, _ item: StoredItem) throws(OfflineError) {
        willDo(.create(item))
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .file(.keyStoreUnwritable, item.rawValue) }
        defer { close(file) }
        willDo(.write(bytes, file))
        let isWritten = bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = system.write(file, UnsafeRawBufferPointer(rebasing: rest))
                guard count > 0 || (count < 0 && errno == EINTR) else { return false }
                rest = rest.dropFirst(max(count, 0))
            }
            return true
        }
        guard isWritten else { throw .file(.keyStoreUnwritable, item.rawValue) }
        willDo(.synchronize(item))
        guard system.synchronize(file) else { throw .file(.keyStoreUnwritable, item.rawValue) }
    }

    private func read(_ count: Int, from file: Int32, _ item: StoredItem) throws(OfflineError) -> Secret {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        // Erases and frees the buffer, whether it is filled or not.
        let secret = Secret(adopting: buffer)
        var filled = 0
        while filled < count {
            let got = Foundation.read(
                file, UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).baseAddress, count - filled)
            guard got > 0 || (got < 0 && errno == EINTR) else { throw .file(.keyStoreUnreadable, item.rawValue) }
            filled += max(got, 0)
        }
        return secret
    }

    private func synchronizeFolder() throws(OfflineError) {
        willDo(.synchronizeFolder)
        let file = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw .file(.keyStoreUnwritable, "The folder") }
        defer { close(file) }
        guard system.synchronize(file) else { throw .file(.keyStoreUnwritable, "The folder") }
    }
}

extension OfflineError {
    /// The system's error for a file; without the path.
    fileprivate static func file(_ kind: Diagnosis.Kind, _ name: String) -> Self {
        let number = errno
        return Self(kind, "\(name): \(String(cString: strerror(number))) (\(number)).")
    }
}

#if canImport(Darwin) && !os(macOS)
    extension FileKeyStore.Protection {
        fileprivate var type: FileProtectionType {
            switch self {
            case .afterFirstUnlock: .completeUntilFirstUserAuthentication
            case .whileUnlocked: .complete
            }
        }
    }
#endif
