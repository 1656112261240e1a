import Foundation
import LatchkeyCore

/// A third-party shared library, in this process until it ends.
///
/// It is never unloaded: a thread may still be in it. A file that is replaced on disk is used after a restart.
// Sound because the handle is only passed to `dlsym`, which locks; `DerivationLibraryTests` calls functions from many tasks.
struct SharedLibrary: @unchecked Sendable {
    /// The file, as an absolute path; or the name by which the system's loader found it.
    let path: String
    private let handle: UnsafeMutableRawPointer

    /// Loads a library, and runs its initializers.
    /// - Parameter path: a file. It is never searched for in other folders.
    /// - Throws: `libraryMissing`, `libraryUnsafe` for a file that others may change, `libraryUnloadable`.
    init(path: String) throws(LicenseeError) {
        let path = URL(fileURLWithPath: path).standardizedFileURL.path
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw LicenseeError(
                .missing, library: path, "It is not a file.", remedy: "Check the path and its folders' permissions.")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw LicenseeError(
                .unsafe, library: path, "Other users can modify it, and it has access to every key.",
                remedy: "Run chmod go-w \(path.onOneLine).")
        }
        handle = try Self.load(path)
        self.path = path
    }

    /// Loads a library that an operator has installed in the folders of the system's loader, which no other user may change.
    /// - Parameter name: its name, without a folder.
    /// - Throws: `libraryUnloadable`.
    init(name: String) throws(LicenseeError) {
        handle = try Self.load(name)
        path = name
    }

    private static func load(_ path: String) throws(LicenseeError) -> UnsafeMutableRawPointer {
        if let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) { return handle }
        let cause = dlerror().map { String(cString: $0).onOneLine } ?? "The system gave no reason."
        throw LicenseeError(
            .unloadable, library: path, cause,
            remedy: "Build it for this system, and make sure that its dependencies can be found.")
    }

    /// A function; `nil` if the library does not export it.
    /// - Parameter type: its type, which must be that of the library's header.
    func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        // Sound for a C function pointer, which is what `dlsym` gives; a library of another interface is refused by its version.
        dlsym(handle, name).map { unsafeBitCast($0, to: type) }
    }
}
