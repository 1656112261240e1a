import Foundation
import LatchkeyCore

/// What a `FileKeyStore` does on its queue.
struct KeyFiles: Sendable {
    /// The largest file that is read, in bytes: an index of many thousand keys.
    static let largestFile = 1 << 25
    /// The end of the name of a file that is being written.
    private static let newEnding = ".new"

    let folder: URL
    let protection: FileKeyStore.Protection
    let willDo: @Sendable (FileStep) -> Void
    /// Whether this process has set up the folder.
    private let isSetUp = Locked(false)

    init(folder: URL, protection: FileKeyStore.Protection, willDo: @escaping @Sendable (FileStep) -> Void) {
        self.folder = folder
        self.protection = protection
        self.willDo = willDo
    }

    /// The files of a store, those that a crash left half written included; other files in the folder are none of ours.
    func items() throws(OfflineError) -> Set<StoredItem> {
        guard access(folder.path, F_OK) == 0 else {
            guard errno == ENOENT else { throw .file(.storeUnreadable, "The folder") }
            return []
        }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
            throw OfflineError(.storeUnreadable, "The folder of the stored keys cannot be listed.")
        }
        let ours = names.filter {
            $0 == StoredItem.index.rawValue || $0.hasSuffix(StoredItem.keyEnding) || $0.hasSuffix(Self.newEnding)
        }
        return Set(ours.compactMap(StoredItem.init(rawValue:)))
    }

    func bytes(of item: StoredItem) throws(OfflineError) -> Secret? {
        let file = open(path(item), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            guard errno == ENOENT else { throw .file(.storeUnreadable, item.rawValue) }
            return nil
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .file(.storeUnreadable, item.rawValue) }
        guard status.st_size <= Self.largestFile else {
            throw OfflineError(.storeUnreadable, "\(item.rawValue) has \(status.st_size) bytes.")
        }
        return try read(Int(status.st_size), from: file, item)
    }

    /// Writes a file beside the old one and lets it take the old one's place, each step on the disk before the next.
    func write(_ bytes: Secret, to item: StoredItem) throws(OfflineError) {
        try setUpFolder()
        let new = path(item) + Self.newEnding
        do throws(OfflineError) {
            try writeNew(bytes, to: new, item)
            willDo(.rename(item))
            guard rename(new, path(item)) == 0 else { throw .file(.storeUnwritable, item.rawValue) }
        } catch {
            unlink(new)
            throw error
        }
        try synchronizeFolder()
    }

    func remove(_ item: StoredItem) throws(OfflineError) {
        willDo(.remove(item))
        guard unlink(path(item)) == 0 || errno == ENOENT else { throw .file(.storeUnwritable, item.rawValue) }
    }

    private func path(_ item: StoredItem) -> String { folder.appendingPathComponent(item.rawValue).path }
}

// MARK: - Steps

extension KeyFiles {
    /// Once in a process, so that a folder that was there before is as private as a new one; and again where it was removed.
    private func setUpFolder() throws(OfflineError) {
        guard !isSetUp.withLock({ $0 }) || access(folder.path, W_OK) != 0 else { return }
        willDo(.setUpFolder)
        do {
            let files = FileManager.default
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
            #if canImport(Darwin) && !os(macOS)
                // Files that are made in the folder take this over.
                try files.setAttributes([.protectionKey: protection.type], ofItemAtPath: folder.path)
            #endif
            #if canImport(Darwin)
                var (place, values) = (folder, URLResourceValues())
                values.isExcludedFromBackup = true
                try place.setResourceValues(values)
            #endif
        } catch {
            throw OfflineError(.storeUnwritable, "The folder of the stored keys cannot be made or set up.")
        }
        isSetUp.withLock { $0 = true }
    }

    private func writeNew(_ bytes: Secret, to path: String, _ item: StoredItem) throws(OfflineError) {
        willDo(.create(item))
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .file(.storeUnwritable, item.rawValue) }
        defer { close(file) }
        willDo(.write(bytes, file))
        let isWritten = bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard count > 0 || errno == EINTR else { return false }
                rest = rest.dropFirst(max(count, 0))
            }
            return true
        }
        guard isWritten else { throw .file(.storeUnwritable, item.rawValue) }
        willDo(.synchronize(item))
        guard synchronize(file) else { throw .file(.storeUnwritable, item.rawValue) }
    }

    private func read(_ count: Int, from file: Int32, _ item: StoredItem) throws(OfflineError) -> Secret {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer {
            erase(buffer)
            buffer.deallocate()
        }
        var filled = 0
        while filled < count {
            let got = Foundation.read(
                file, UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).baseAddress, count - filled)
            guard got > 0 || (got < 0 && errno == EINTR) else { throw .file(.storeUnreadable, item.rawValue) }
            filled += max(got, 0)
        }
        return Secret(buffer)
    }

    private func synchronizeFolder() throws(OfflineError) {
        willDo(.synchronizeFolder)
        let file = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw .file(.storeUnwritable, "The folder") }
        defer { close(file) }
        guard synchronize(file) else { throw .file(.storeUnwritable, "The folder") }
    }

    private func synchronize(_ file: Int32) -> Bool {
        #if canImport(Darwin)
            // Darwin's fsync leaves the bytes in the drive's cache.
            if fcntl(file, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(file) == 0
    }
}

extension OfflineError {
    /// What the system says about a file; the path stays out of it.
    fileprivate static func file(_ kind: Kind, _ name: String) -> Self {
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
