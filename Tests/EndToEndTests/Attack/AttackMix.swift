import Foundation
import LatchkeyCore

/// The attacks of strangers, one after the other. Two consecutive attacks are never of the same kind.
struct AttackMix {
    private let surface: AttackSurface
    private var generator: SeededGenerator
    private var crowd: [AttackSocket] = []
    private var count = 0

    init(_ surface: AttackSurface, seed: UInt64) {
        self.surface = surface
        generator = SeededGenerator(seed: seed)
    }

    /// Makes the next attack. Waits only for its answer.
    mutating func next() {
        count += 1
        let form = pick(surface.forms)
        switch count % 8 {
        case 0: join(form.port, words: "")
        case 1: join(form.port, words: "GET \(pick(surface.pages)) HTTP/1.1\r\nHost: a\r\nX-Slow: ")
        case 2: join(form.port, words: "\(start("POST", form.path))\(form.fields)Content-Length: 90000\r\n\r\n{")
        case 3: exchange(form.port, start("GET", target()) + "\r\n")
        case 4: exchange(form.port, "\(start("POST", form.path))\(form.fields)\(pick(Self.framings))\r\nabc")
        case 5: body(of: form)
        case 6:
            let fields = "Authorization: Bearer \(token())\r\nContent-Length: 0\r\n\r\n"
            exchange(form.port, start("POST", form.path) + fields)
        default: noise(form)
        }
    }

    private mutating func pick<Element>(_ all: [Element]) -> Element {
        all[Int.random(in: all.indices, using: &generator)]
    }

    /// Opens twenty more idle connections, up to 600.
    private mutating func join(_ port: UInt16, words: String) {
        if crowd.count > 580 { crowd.removeFirst(100) }
        for _ in 0..<20 {
            guard let one = connection(port) else { return }
            if !words.isEmpty { one.send(words) }
            crowd.append(one)
        }
        // The slow ones among them send another byte each.
        for one in crowd.prefix(40) { one.send("x") }
    }

    private func connection(_ port: UInt16) -> AttackSocket? {
        AttackSocket(port: port, from: "127.0.0.1", patience: 1)
    }

    private func exchange(_ port: UInt16, _ text: String) {
        guard let one = connection(port) else { return }
        one.send(text)
        _ = one.status()
    }

    private func start(_ method: String, _ target: String) -> String { "\(method) \(target) HTTP/1.1\r\nHost: a\r\n" }

    /// A new target for each request. Some are too long.
    private mutating func target() -> String {
        let digits = generator.bytes(32).hexString
        let page = pick(surface.pages)
        return pick([
            "/\(digits)", "\(page)/\(digits)/" + String(repeating: digits, count: 200),
            "/?" + String(repeating: "a&", count: 3_000),
            "\(page)/../../etc/\(digits)", "/%00/%ff/\(digits)", "\(page)?token=\(digits)",
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

    /// A body that is expensive to process.
    private mutating func body(of form: AttackSurface.Form) {
        let size = pick([1_000, 200_000, 1_000_000, 2_000_000])
        let piece = pick(form.pieces)
        let text = form.opening + String(repeating: piece, count: size / piece.utf8.count)
        let fields = "\(form.fields)Content-Length: \(text.utf8.count)\r\n\r\n"
        exchange(form.port, start("POST", form.path) + fields + text)
    }

    private mutating func token() -> String {
        let deep = String(repeating: "[", count: 900) + String(repeating: "]", count: 900)
        let claims = pick([#"{"a":\#(deep)}"#, #"{"exp":1e999}"#, #"{"exp":"nan"}"#, #"{"exp":1,"exp":9e9}"#, "{}"])
        let header = pick([
            #"{"alg":"HS256"}"#, #"{"alg":"none"}"#, #"{"alg":"ES256","kid":"../../etc/passwd"}"#,
            #"{"alg":["HS256"]}"#,
        ])
        return [header, claims, pick(["signature", String(repeating: "s", count: 20_000)])].map {
            Data($0.utf8).base64EncodedString()
        }.joined(
            separator: ".")
    }

    /// Random bytes, or a request that is cut off at a random place.
    private mutating func noise(_ form: AttackSurface.Form) {
        guard let one = connection(form.port) else { return }
        if Bool.random(using: &generator) {
            one.send(Data(generator.bytes(500)) + Data("\r\n\r\n".utf8))
        } else {
            let fields = form.fields + "Content-Length: 400\r\n\r\n"
            let whole = start("POST", form.path) + fields + String(repeating: "s", count: 400)
            one.send(String(whole.prefix(Int.random(in: 0..<whole.count, using: &generator))))
        }
    }
}
