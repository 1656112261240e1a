import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeySupport
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

/// A recorded license, opened with the service's own credentials as its key server opens SPCs.
struct SealedLicense {
    /// The content identifier that the SPC requested.
    let identifier: ContentIdentifier
    /// The key in the CKC, or the reason why there is none.
    let key: Result<DeviceKey, DeviceError>

    /// - Parameters:
    ///   - ckc: the CKC's bytes, without an envelope.
    ///   - module: the key server's module with the credentials.
    /// - Returns: `nil` if the request holds no SPC.
    /// - Throws: why the credentials do not open the SPC.
    init?(_ exchange: TrafficExchange, ckc: Data, _ module: KeyServerModule) throws(KSMRefusal) {
        guard let spc = exchange.spc else { return nil }
        let context = try module.open(spc)
        identifier = context.assetID
        let opened = KeyExchange(spc, openedAs: context)
        key = Result { () throws(DeviceError) in try opened.open(ckc) }
    }
}

extension TrafficExchange {
    /// The SPC without its encodings; `nil` if the body holds none.
    fileprivate var spc: Data? {
        guard let body = request.body, case .spc = sent.core else { return nil }
        return contents(of: body, sent)
    }

    private func contents(of bytes: Data, _ found: Recognition) -> Data? {
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        switch found {
        case .base64(let inside):
            return Data(lenientBase64: text).flatMap { contents(of: $0, inside) }
        case .hexadecimal(let inside):
            return Data(hexString: text.filter { !$0.isWhitespace && $0 != ":" }).flatMap { contents(of: $0, inside) }
        case .percentEncoded(let inside):
            return text.removingPercentEncoding.flatMap { contents(of: Data($0.utf8), inside) }
        case .numbers(let inside):
            return contents(of: Data(text.split { !$0.isNumber }.compactMap { UInt8($0) }), inside)
        case .form(let field, let inside):
            return fields.first { $0.name == field }.flatMap { contents(of: Data($0.value.utf8), inside) }
        case .json(let field?, let inside):
            let document = try? JSONSerialization.jsonObject(with: bytes, options: .fragmentsAllowed)
            return Self.text(of: field, in: document, 8).flatMap { contents(of: Data($0.utf8), inside) }
        case .spc: return bytes
        default: return nil
        }
    }

    /// The text of a member at any depth.
    private static func text(of field: String, in value: Any?, _ depth: Int) -> String? {
        guard depth > 0 else { return nil }
        switch value {
        case let text as String: return field.isEmpty ? text : nil
        case let object as [String: Any]:
            return object[field] as? String
                ?? object.sorted { $0.key < $1.key }.lazy.compactMap { text(of: field, in: $0.value, depth - 1) }.first
        case let list as [Any]: return list.lazy.compactMap { text(of: field, in: $0, depth - 1) }.first
        default: return nil
        }
    }
}

// The license contents that the service's credentials reveal.
extension TrafficDiagnosis {
    /// The content keys of recorded licenses, if the service's credentials are given.
    func contentKeys(_ exchanges: [TrafficExchange], for keys: [KeyURI]) -> [KeyURI: ContentKey] {
        exchanges.reduce(into: [:]) { found, exchange in
            guard let module, let license = try? license(of: exchange, keys),
                let sealed = try? SealedLicense(exchange, ckc: license.ckc.revealed, module),
                let key = key(of: sealed, in: exchange, among: keys), let opened = try? sealed.key.get()
            else { return }
            found[key] = opened.contentKey
        }
    }

    /// Checks of the contents of a good license; empty without credentials.
    func inside(_ license: License, of exchange: TrafficExchange, _ keys: [KeyURI]) -> [Checkup] {
        guard let module else { return [] }
        let found: SealedLicense?
        do throws(KSMRefusal) {
            found = try SealedLicense(exchange, ckc: license.ckc.revealed, module)
        } catch  where error.kind == .unknownCertificate {
            return [
                .skipped(
                    .license,
                    "Request \(exchange.number): its SPC is not for --credentials, which open neither it nor its CKC."
                )
            ]
        } catch {
            return [Checkup(.license, Failure(error), about: exchange.shown)]
        }
        guard let sealed = found else {
            return [
                .skipped(
                    .license,
                    "Request \(exchange.number): its SPC cannot be taken out of the body, so nothing was opened."
                )
            ]
        }
        let key = key(of: sealed, in: exchange, among: keys)
        switch sealed.key {
        case .failure(let error): return [Checkup(.license, Failure(error), about: exchange.shown)]
        case .success(let opened): return diagnosis.oddTerms(opened.terms, of: key ?? KeyURI(exchange.shown))
        }
    }

    /// The one key that an SPC and its request can be for.
    private func key(of sealed: SealedLicense, in exchange: TrafficExchange, among keys: [KeyURI]) -> KeyURI? {
        let asked = isKnown ? keys.filter { (try? profile.contentIdentifier(for: $0)) == sealed.identifier } : keys
        guard asked.count > 1 else { return asked.first }
        let named = LicensedKeys(keys, isKnown ? profile : nil).key(of: exchange)
        return named.map { keys[$0] }
    }
}
