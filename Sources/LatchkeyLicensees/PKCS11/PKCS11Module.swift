internal import CPKCS11
import Foundation
import LatchkeyCore

/// A PKCS#11 module, initialized. One per file in a process, because a module's initialization is process-wide.
///
/// None of it survives `fork`.
///
/// Source: PKCS#11 2.40 base specification §5.4; `Documentation/LicenseServer.md` §8.3.
// Sound because the module is initialized with `CKF_OS_LOCKING_OK`: it locks internally, and its list of functions never changes.
final class PKCS11Module: @unchecked Sendable {
    let functions: UnsafePointer<CK_FUNCTION_LIST>
    /// The PINs that tokens refused in this process, and their errors. Also keeps two threads from logging in concurrently.
    let refusals = Locked<[RefusedPIN: LicenseeError]>([:])

    struct RefusedPIN: Hashable {
        let token: String
        let serial: String?
        let pin: Secret
    }

    /// The module of a file, initialized at its first use.
    static func at(_ path: String) throws(LicenseeError) -> PKCS11Module {
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let result = loaded.withLock { loaded -> Result<PKCS11Module, LicenseeError> in
            if let module = loaded[path] { return .success(module) }
            do throws(LicenseeError) {
                let module = try PKCS11Module(path)
                loaded[path] = module
                return .success(module)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    // Process-wide, like C_Initialize.
    private static let loaded = Locked<[String: PKCS11Module]>([:])

    private typealias GetFunctionList =
        @convention(c) (UnsafeMutablePointer<UnsafePointer<CK_FUNCTION_LIST>?>?) -> CK_RV

    private init(_ path: String) throws(LicenseeError) {
        let library: SharedLibrary
        do { library = try SharedLibrary(path: path) } catch {
            throw LicenseeError(.moduleUnusable, error.reason, remedy: error.remedy)
        }
        var list: UnsafePointer<CK_FUNCTION_LIST>?
        guard let getList = library.function("C_GetFunctionList", as: GetFunctionList.self), getList(&list) == CKR_OK,
            let list
        else {
            throw .module(path, "It is not a PKCS#11 module.")
        }
        functions = list
        var arguments = CK_C_INITIALIZE_ARGS()
        arguments.flags = CKF_OS_LOCKING_OK
        guard let initialize = list.pointee.C_Initialize else { throw .module(path, "It lacks C_Initialize.") }
        let result = initialize(&arguments)
        guard result == CKR_OK || result == CKR_CRYPTOKI_ALREADY_INITIALIZED else {
            throw .module(path, LicenseeError.failed("C_Initialize", result).reason)
        }
    }

    /// Calls a function of the module.
    /// - Returns: `CKR_FUNCTION_FAILED` if the module lacks it.
    func call<Function>(
        _ function: KeyPath<CK_FUNCTION_LIST, Function?>, _ body: (Function) -> CK_RV
    ) -> CK_RV {
        functions.pointee[keyPath: function].map(body) ?? CKR_FUNCTION_FAILED
    }

    /// The slot of the only token with a label, and a serial number if given.
    func slot(of address: PKCS11Address) throws(LicenseeError) -> (slot: CK_ULONG, token: CK_TOKEN_INFO) {
        var count: CK_ULONG = 0
        var result = call(\.C_GetSlotList) { $0(1, nil, &count) }
        guard result == CKR_OK, count <= 4_096 else { throw .failed("C_GetSlotList", result) }
        var slots = [CK_ULONG](repeating: 0, count: Int(count))
        result = call(\.C_GetSlotList) { $0(1, &slots, &count) }
        guard result == CKR_OK else { throw .failed("C_GetSlotList", result) }
        let found = slots.prefix(Int(count)).compactMap { slot -> (CK_ULONG, CK_TOKEN_INFO)? in
            var info = CK_TOKEN_INFO()
            guard call(\.C_GetTokenInfo, { $0(slot, &info) }) == CKR_OK else { return nil }
            let isWanted =
                Self.text(of: info.label) == address.token
                && (address.serial == nil || Self.text(of: info.serialNumber) == address.serial)
            return isWanted ? (slot, info) : nil
        }
        guard let first = found.first, found.count == 1 else {
            let number = found.isEmpty ? "There is no" : "There are several"
            throw LicenseeError(
                .tokenMissing, "\(number) token “\(address.token.onOneLine)” in \(address.module.onOneLine).",
                remedy: found.isEmpty
                    ? "Compare with `pkcs11-tool --module FILE --list-token-slots`, and check the module's configuration."
                    : "Add serial= to the address.")
        }
        return first
    }

    /// The text of a blank-padded field of fixed length. Swift sees a C array as a tuple.
    private static func text<Field>(of field: Field) -> String {
        let bytes = withUnsafeBytes(of: field) { Array($0) }
        let end = bytes.lastIndex { $0 != UInt8(ascii: " ") && $0 != 0 }.map { $0 + 1 } ?? 0
        return String(decoding: bytes.prefix(end), as: UTF8.self)
    }
}

extension LicenseeError {
    fileprivate static func module(_ path: String, _ what: String) -> Self {
        Self(
            .moduleUnusable, "The PKCS#11 module \(path.onOneLine) cannot be used. \(what)",
            remedy: "Set module-path to the token's PKCS#11 library, and check the library's configuration.")
    }
}
