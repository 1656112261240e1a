#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeyDevice
    import LatchkeyForms
    import LatchkeyLicensing
    import LatchkeyTransport

    @testable import LatchkeyServer
    @testable import LatchkeyServerTool

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension TestServer {
        /// A key that no packager brought.
        static let derivedKid = "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"

        func send(
            _ url: String, method: String = "GET", body: Data? = nil, bearer: String? = nil,
            headers: [String: String] = [:]
        ) async throws -> HTTPReply {
            guard let url = URL(string: url) else { throw URLError(.badURL) }
            var request = URLRequest(url: url)
            // A machine with a sanitizer is slow.
            request.timeoutInterval = 900
            request.httpMethod = method
            request.httpBody = body
            if let bearer { request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization") }
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
            return try await SystemTransport().send(request, bodyLimit: 1 << 24)
        }

        /// Asks a tenant's player API.
        func player(
            _ path: String, _ method: String = "GET", body: Data? = nil, bearer: String? = nil,
            headers: [String: String] = [:], at tenant: String = "demo"
        ) async throws -> HTTPReply {
            try await send(
                "\(server.addresses.players.url)/t/\(tenant)/\(path)", method: method, body: body, bearer: bearer,
                headers: headers)
        }

        /// Asks a tenant's packager API.
        /// - Parameter credentials: Defaults to the API key of the demonstration's packager.
        func packager(
            _ path: String, _ method: String = "GET", body: String? = nil, headers: [String: String] = [:],
            credentials: [String: String]? = nil, at tenant: String = "demo"
        ) async throws -> HTTPReply {
            try await send(
                "\(server.addresses.packagers.url)/t/\(tenant)/\(path)", method: method,
                body: body.map { Data($0.utf8) },
                headers: headers.merging(credentials ?? ["X-API-Key": folder.packagerKey.revealedText]) { one, _ in one
                })
        }

        /// Asks the operators' listener without a key.
        func operators(_ path: String) async throws -> HTTPReply {
            try await send("\(server.addresses.operators.url)/\(path)")
        }

        /// Asks the admin API.
        /// - Parameter key: an operator's key; `nil` sends none.
        func admin(
            _ path: String, _ method: String = "GET", body: String? = nil, key: String? = TestServer.key(.security),
            headers: [String: String] = [:]
        ) async throws -> HTTPReply {
            try await send(
                "\(server.addresses.operators.url)/admin/v1/\(path)", method: method, body: body.map { Data($0.utf8) },
                bearer: key, headers: headers)
        }

        /// The key of an operator with a role.
        static func key(_ role: AdminRole) -> String { "key-of-\(role.rawValue)" }

        /// The value of one series; `nil` if it is missing.
        func metric(_ series: String) async throws -> Double? {
            let line = try await operators("metrics").text.split(separator: "\n").first { $0.hasPrefix("\(series) ") }
            return line?.split(separator: " ").last.flatMap { Double($0) }
        }

        /// The events of the audit since the tenant was made: action and actor, in their order.
        func audit() async throws -> [String] {
            try await server.shared.engines.audit.entries(from: 1, limit: 1_000).map { entry in
                let event = JSONValue(Data(entry.text.utf8))
                let words = ["action", "object", "actor"].map { event?[$0]?.text ?? "" }
                return "\(words[0]) \(words[1]) by \(words[2])"
            }.filter { !$0.hasPrefix("tenantCreated ") }
        }

        // MARK: - Players

        func token(_ viewer: String = "anna", _ claims: [String: JSONValue] = [:]) throws -> String {
            try DemoFolder.token(in: folder.url, for: viewer, at: time.date, claims: claims).revealedText
        }

        func exchange(_ identifier: String = "skd://movie/\(derivedKid)") throws -> KeyExchange {
            var generator = SystemRandomNumberGenerator()
            return try SimulatedDevice(directory: URL(filePath: folder.credentials))
                .exchange(for: ContentIdentifier(identifier), using: &generator)
        }

        /// A FairPlay license of a new session.
        func license(
            for viewer: String = "anna", headers: [String: String] = [:]
        ) async throws -> (HTTPReply, KeyExchange) {
            let exchange = try exchange()
            return (
                try await player(
                    "fairplay", "POST", body: exchange.spc.revealed, bearer: token(viewer), headers: headers), exchange
            )
        }

        /// Asks for a key by its number through Clear Key.
        /// - Parameter token: the viewer's. Defaults to a new viewer's.
        func license(
            _ number: Int, token: String? = nil, requestID: String = UUID().uuidString
        ) async throws -> HTTPReply {
            let kid = try Base64URL.text(Self.keyID(number).bytes)
            return try await player(
                "clearkey", "POST", body: Data(#"{"kids":["\#(kid)"],"type":"temporary"}"#.utf8),
                bearer: token ?? self.token("viewer-\(UUID())"),
                headers: ["X-Request-Id": requestID, "Content-Type": "application/json"])
        }

        // MARK: - Keys

        /// The kid of a number, as a UUID.
        static func kid(_ number: Int) -> String {
            let digits = String(number)
            return "00000000-0000-0000-0000-" + String(repeating: "0", count: 12 - digits.count) + digits
        }

        static func keyID(_ number: Int) throws -> KeyID {
            guard let kid = KeyID(kid(number)) else { throw NothingChanged(place: "\(number)", file: "the kids") }
            return kid
        }

        /// A CPIX document of keys by their numbers, in clear.
        static func document(_ numbers: some Sequence<Int>, of content: String = "film") -> String {
            let keys = numbers.map { number in
                """
                <cpix:ContentKey kid="\(kid(number))" explicitIV="\(plainIV)" commonEncryptionScheme="cbcs">\
                <cpix:Data><pskc:Secret><pskc:PlainValue>\(plainKey)</pskc:PlainValue></pskc:Secret></cpix:Data></cpix:ContentKey>
                """
            }
            return """
                <cpix:CPIX xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" \
                contentId="\(content)" version="2.3"><cpix:ContentKeyList>\(keys.joined())</cpix:ContentKeyList></cpix:CPIX>
                """
        }

        /// The IV of every key of `document`.
        static let plainIV = "AwMDAwMDAwMDAwMDAwMDAw=="

        /// The bytes of every key of `document`.
        static let plainKey = "AQEBAQEBAQEBAQEBAQEBAQ=="

        /// Imports keys by their numbers, as an operator does.
        func importKeys(_ numbers: some Sequence<Int>, of content: String = "film") async throws {
            let reply = try await admin("tenants/demo/cpix", "POST", body: Self.document(numbers, of: content))
            guard reply.status == 200 else { throw NothingChanged(place: reply.text, file: "the keys") }
        }
    }

    extension HTTPReply {
        var text: String { String(decoding: body, as: UTF8.self) }

        /// The body as JSON; `null` for anything else.
        var json: JSONValue { JSONValue(body) ?? .null }

        /// The elements of a list in the body.
        func list(_ name: String) -> [JSONValue] {
            guard case .array(let values)? = json[name] else { return [] }
            return values
        }

        /// One member of each element of a list.
        func texts(_ name: String, _ member: String) -> [String] { list(name).compactMap { $0[member]?.text } }
    }
#endif
