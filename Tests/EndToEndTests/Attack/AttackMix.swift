import Foundation
import LatchkeyCore

/// The attacks of strangers, one after the other. No two in a row are of the same kind.
struct AttackMix {
    private let port: UInt16
    private var generator: SeededGenerator
    private var crowd: [AttackSocket] = []
    private var count = 0

    init(port: UInt16, seed: UInt64) {
        self.port = port
        generator = SeededGenerator(seed: seed)
    }

    /// Makes the next attack. Waits only for its answer.
    mutating func next() {
        count += 1
        switch count % 8 {
        case 0: join(words: "")
        case 1: join(words: "GET /vudrm HTTP/1.1\r\nHost: a\r\nX-Slow: ")
        case 2: join(words: "POST /generic/license HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n{")
        case 3: exchange(head("GET", target(), fields: ""))
        case 4: exchange(head("POST", "/generic/license", fields: pick(Self.framings)) + "abc")
        case 5: body()
        case 6:
            exchange(
                head(
                    "POST", "/azure/FairPlay/?kid=x",
                    fields: "Authorization: Bearer \(token())\r\nContent-Length: 0\r\n"))
        default: noise()
        }
    }

    private mutating func pick<Element>(_ all: [Element]) -> Element {
        all[Int.random(in: all.indices, using: &generator)]
    }

    /// Opens twenty more idle connections, up to 600.
    private mutating func join(words: String) {
        if crowd.count > 580 { crowd.removeFirst(100) }
        for _ in 0..<20 {
            guard let one = AttackSocket(port: port, from: "127.0.0.1", patience: 1) else { return }
            if !words.isEmpty { one.send(words) }
            crowd.append(one)
        }
        // The slow ones among them send another byte each.
        for one in crowd.prefix(40) { one.send("x") }
    }

    private func exchange(_ text: String) {
        guard let one = AttackSocket(port: port, from: "127.0.0.1", patience: 1) else { return }
        one.send(text)
        _ = one.status()
    }

    private func head(_ method: String, _ target: String, fields: String) -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    /// A new target for each request. Some are too long.
    private mutating func target() -> String {
        let digits = generator.bytes(32).hexString
        return pick([
            "/\(digits)", "/vudrm/\(digits)/" + String(repeating: digits, count: 200),
            "/?" + String(repeating: "a&", count: 3_000),
            "/media/../../etc/\(digits)", "/%00/%ff/\(digits)", "/mux/license/fairplay/\(digits)?token=\(digits)",
            "/" + String(repeating: digits, count: 600),
        ])
    }

    private static let framings = [
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 18446744073709551615\r\n",
        "Host: b\r\n",
        "Transfer-Encoding: gzip\r\n", "Content-Length: -1\r\n",
        "Cookie: " + String(repeating: "a=b; ", count: 2_000) + "\r\n",
        String(repeating: "X: y\r\n", count: 2_500), "Transfer-Encoding: chunked\r\n\r\nfffffffffffffff0\r\n",
        "Transfer-Encoding: chunked\r\n\r\n3;" + String(repeating: "e", count: 60_000) + "\r\n",
    ]

    /// A body that is expensive to process, for one of the services.
    private mutating func body() {
        let (path, type) = pick([
            ("/generic/json", "application/json"), ("/vudrm/license", "application/json"),
            ("/comcast/fpls/web/FairPlay?token=t&account=a", "application/json"),
            ("/generic/form", "application/x-www-form-urlencoded"),
            ("/verimatrix/fairplay", "application/x-www-form-urlencoded"),
            ("/kaltura/fps/license", "application/octet-stream"),
            ("/cloud-drm/acquire-license/fairplay", "multipart/form-data; boundary=b"),
        ])
        let size = pick([1_000, 200_000, 1_000_000, 2_000_000])
        let piece = pick(["[", "{\"a\":", "a&", "+", "%2B", "1,", "\r\n--b\r\n", "\u{0}", "A"])
        let text = String(repeating: piece, count: size / piece.utf8.count)
        exchange(
            head("POST", path, fields: "Content-Type: \(type)\r\nContent-Length: \(text.utf8.count)\r\n") + text)
    }

    private mutating func token() -> String {
        let deep = String(repeating: "[", count: 900) + String(repeating: "]", count: 900)
        let claims = pick([#"{"a":\#(deep)}"#, #"{"exp":1e999}"#, #"{"exp":"nan"}"#, #"{"exp":1,"exp":9e9}"#, "{}"])
        return ["{\"alg\":\"HS256\"}", claims, "signature"].map { Data($0.utf8).base64EncodedString() }.joined(
            separator: ".")
    }

    /// Random bytes, or a request that is cut off at a random place.
    private mutating func noise() {
        guard let one = AttackSocket(port: port, from: "127.0.0.1", patience: 1) else { return }
        if Bool.random(using: &generator) {
            one.send(Data(generator.bytes(500)) + Data("\r\n\r\n".utf8))
        } else {
            let whole =
                head("POST", "/generic/raw", fields: "Content-Length: 400\r\n") + String(repeating: "s", count: 400)
            one.send(String(whole.prefix(Int.random(in: 0..<whole.count, using: &generator))))
        }
    }
}
