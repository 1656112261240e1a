import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import Testing

@Suite struct CallerDirectoryTests {
    private static let fingerprint = String(repeating: "ab", count: 32)
    private let encoder = Caller(name: "encoder", tenant: "a", rights: [.readSPEKE])
    private let importer = Caller(name: "importer", tenant: "a", rights: [.importKeys])

    private func directory() throws -> CallerDirectory {
        CallerDirectory(
            [
                .init(try CallerCredential(.apiKey, secret: Secret("key-1")), encoder),
                .init(try CallerCredential(.basic, secret: Secret("user:pass:word")), encoder),
                .init(try CallerCredential(.bearer, secret: Secret("bearer-1")), encoder),
                .init(try #require(CallerCredential(.certificate, sha256: Self.fingerprint)), encoder),
                .init(try CallerCredential(.apiKey, secret: Secret("key-2")), importer),
            ], proxies: TrustedProxies([try #require(AddressRange("10.0.0.0/8"))]))
    }

    private func outcome(
        _ headers: HTTPHeaders, peer: String = "10.0.0.1", right: CallerRight = .readSPEKE, tenant: String = "a"
    ) throws -> Result<Caller, CallerRefusal> {
        let request = HTTPRequest(method: .post, target: "/", headers: headers, remoteAddress: peer)
        let directory = try directory()
        return Result { () throws(CallerRefusal) in try directory.caller(of: request, with: right, for: tenant) }
    }

    @Test(
        arguments: [
            ["X-API-Key": "key-1"], ["Authorization": "Basic \(Data("user:pass:word".utf8).base64EncodedString())"],
            ["Authorization": "bearer bearer-1"], ["X-Client-Cert-SHA256": fingerprint.uppercased()],
            ["X-API-Key": "key-1", "Authorization": "AWS4-HMAC-SHA256 Credential=AKID/x, Signature=00"],
            ["X-API-Key": "key-1", "Authorization": "Bearer bearer-1"],
        ] as [HTTPHeaders])
    func `a caller is known by each of its credentials`(headers: HTTPHeaders) throws {
        #expect(try outcome(headers).get() == encoder)
    }

    @Test(
        arguments: [
            ([:], .missing), (["X-API-Key": "key-3"], .unknown), (["X-API-Key": ""], .missing),
            (["Authorization": "Bearer key-1"], .unknown), (["Authorization": "Basic %%%"], .unknown),
            (["Authorization": "AWS4-HMAC-SHA256 Credential=AKID/x"], .missing),
            (["X-API-Key": "key-1", "Authorization": "Bearer wrong"], .unknown),
            (["X-API-Key": "key-1", "x-api-key": "key-2"], .several),
        ] as [(HTTPHeaders, CallerRefusal.Kind)])
    func `all others are refused with 401`(headers: HTTPHeaders, kind: CallerRefusal.Kind) throws {
        guard case .failure(let refusal) = try outcome(headers) else {
            return #expect(Bool(false), "was let in") as Void
        }
        #expect(refusal.kind == kind)
        #expect(refusal.status == 401)
        #expect(refusal.headers["WWW-Authenticate"] != nil)
    }

    @Test func `a certificate counts only from a trusted proxy`() throws {
        let headers: HTTPHeaders = ["X-Client-Cert-SHA256": Self.fingerprint]
        guard case .failure(let refusal) = try outcome(headers, peer: "198.51.100.9") else {
            return #expect(Bool(false)) as Void
        }
        #expect(refusal.kind == .missing)
    }

    @Test func `a missing right and another tenant are refused with 403, and name the caller`() throws {
        let right = try outcome(["X-API-Key": "key-1"], right: .importKeys)
        let tenant = try outcome(["X-API-Key": "key-1"], tenant: "b")
        for (outcome, kind) in [(right, CallerRefusal.Kind.right), (tenant, .otherTenant)] {
            guard case .failure(let refusal) = outcome else { return #expect(Bool(false)) as Void }
            #expect(refusal.kind == kind)
            #expect(refusal.status == 403)
            #expect(refusal.caller == encoder)
        }
    }

    @Test(arguments: [["a", "b"], ["b", "a"]])
    func `one key serves several tenants, and the tenant of the address decides`(order: [String]) throws {
        let key = try CallerCredential(.apiKey, secret: Secret("shared"))
        let directory = CallerDirectory(
            order.map { .init(key, Caller(name: "service-\($0)", tenant: $0, rights: [.readSPEKE])) })
        let request = HTTPRequest(
            method: .post, target: "/", headers: ["X-API-Key": "shared"], remoteAddress: "127.0.0.1")
        for tenant in order {
            let caller = try directory.caller(of: request, with: .readSPEKE, for: tenant)
            #expect(caller.name == "service-\(tenant)")
        }
        #expect(throws: CallerRefusal.self) { try directory.caller(of: request, with: .readSPEKE, for: "c") }
    }

    @Test func `a reply with 401 names the schemes that callers use`() throws {
        let request = HTTPRequest(method: .post, target: "/", headers: [:], remoteAddress: "127.0.0.1")
        func challenge(_ kinds: CallerCredential.Scheme...) throws -> String? {
            let entries = try kinds.map {
                CallerDirectory.Entry(try CallerCredential($0, secret: Secret("one")), encoder)
            }
            let directory = CallerDirectory(entries)
            let refusal = #expect(throws: CallerRefusal.self) {
                try directory.caller(of: request, with: .readSPEKE, for: "a")
            }
            return refusal?.headers["WWW-Authenticate"]
        }
        #expect(try challenge(.apiKey, .bearer) == "Bearer")
        #expect(try challenge(.basic) == "Basic realm=\"latchkey\"")
        #expect(try challenge(.basic, .bearer) == "Basic realm=\"latchkey\", Bearer")
        #expect(try challenge(.certificate) == "Bearer")
    }

    @Test func `a stored digest has 64 digits, with or without colons`() {
        let colons = Array(repeating: "ab", count: 32).joined(separator: ":")
        #expect(
            CallerCredential(.certificate, sha256: colons) == CallerCredential(.certificate, sha256: Self.fingerprint))
        #expect(CallerCredential(.apiKey, sha256: "abcd") == nil)
        #expect(CallerCredential(.apiKey, sha256: String(repeating: "g", count: 64)) == nil)
    }
}
