internal import CLatchkeyDerivation
import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// A licensee's opener of SPCs in a shared library. The RSA step stays in the server, or in its token.
///
/// Source: `Documentation/Licensees.md` §1.
struct LibrarySPCOpener: SPCOpener {
    let versions: Set<UInt32>
    private let openSPC: Open

    private typealias Versions = @Sendable @convention(c) () -> UInt32
    private typealias Open =
        @Sendable @convention(c) (
            UnsafePointer<UInt8>?, Int, latchkey_unwrap?, UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?,
            UnsafeMutablePointer<Int>?
        ) -> Int32

    /// - Returns: `nil` if the library has no opener.
    /// - Throws: `librarySymbolMissing` if it has only one of the two functions.
    init?(_ library: SharedLibrary) throws(LicenseeError) {
        let versions = library.function("latchkey_spc_versions", as: Versions.self)
        let open = library.function("latchkey_spc_open", as: Open.self)
        if versions == nil, open == nil { return nil }
        guard let versions, let open else {
            throw LicenseeError(
                .symbolMissing, library: library.path,
                "It exports only one of latchkey_spc_versions and latchkey_spc_open.",
                remedy: "Export both or neither.")
        }
        let bits = versions()
        self.versions = Set((0..<32).filter { bits >> $0 & 1 == 1 })
        openSPC = open
    }

    func open(_ spc: [UInt8], credentials: [KeyServerCredential]) throws -> OpenedSPC {
        let unwrapping = Unwrapping(credentials)
        var payload = [UInt8](repeating: 0, count: spc.count)
        defer { erase(&payload) }
        var count = payload.count
        let result = openSPC(
            spc, spc.count, Unwrapping.unwrap, Unmanaged.passUnretained(unwrapping).toOpaque(), &payload, &count)
        // The call above used the object without retaining it.
        withExtendedLifetime(unwrapping) {}
        guard result == LATCHKEY_OK else {
            throw unwrapping.refusal ?? KSMRefusal.malformedContainer("the licensee's opener returned \(result)")
        }
        guard 0...payload.count ~= count else {
            throw KSMRefusal.malformedContainer("the licensee's opener states \(count) bytes of payload")
        }
        guard let index = unwrapping.credentialIndex else {
            throw KSMRefusal.malformedContainer("the licensee's opener opened it without a private key")
        }
        return OpenedSPC(payload: Array(payload.prefix(count)), credentialIndex: index)
    }
}

/// The private keys' part in opening one SPC. Lives for one call, on one thread.
private final class Unwrapping {
    private let credentials: [KeyServerCredential]
    /// The last credential that opened something.
    private(set) var credentialIndex: Int?
    /// The reason for the last failure.
    private(set) var refusal: KSMRefusal?

    init(_ credentials: [KeyServerCredential]) { self.credentials = credentials }

    static let unwrap: latchkey_unwrap = { context, sha1, wrapped, count, key, keyCount in
        guard let context, let sha1, let wrapped, let key, let keyCount, count >= 0, keyCount.pointee >= 0 else {
            return LATCHKEY_FAILED
        }
        // Sound because `open` passes an object of this type, and keeps it until the library returns.
        let unwrapping = Unmanaged<Unwrapping>.fromOpaque(context).takeUnretainedValue()
        let room = UnsafeMutableRawBufferPointer(start: key, count: keyCount.pointee)
        let hash = Array(UnsafeBufferPointer(start: sha1, count: Int(LATCHKEY_SHA1_SIZE)))
        do throws(KSMRefusal) {
            keyCount.pointee = try unwrapping.unwrap(
                hash, Array(UnsafeBufferPointer(start: wrapped, count: count)), to: room)
            return LATCHKEY_OK
        } catch {
            unwrapping.refusal = error
            switch error.kind {
            case .unknownCertificate: return LATCHKEY_UNKNOWN_CERTIFICATE
            case .keyUnavailable: return LATCHKEY_UNAVAILABLE
            default: return LATCHKEY_FAILED
            }
        }
    }

    private func unwrap(
        _ sha1: [UInt8], _ wrapped: [UInt8], to room: UnsafeMutableRawBufferPointer
    ) throws(KSMRefusal) -> Int {
        guard let index = credentials.firstIndex(where: { $0.certificate.fingerprint.elementsEqual(sha1) }) else {
            throw .unknownCertificate(sha1.hexString)
        }
        let opened: Secret?
        do { opened = try credentials[index].key.decryptOAEP(wrapped[...]) } catch { throw .keyUnavailable(error) }
        guard let opened, opened.count <= room.count else { throw .rsaDecryptFailed }
        opened.withUnsafeBytes { room.copyMemory(from: $0) }
        credentialIndex = index
        return opened.count
    }
}
