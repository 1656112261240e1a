import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTerminal

/// `latchkey spc`: the first half of a simulated device.
struct SPCVerb: Verb {
    private let credentials = Option(
        "credentials", .path("DIR"), "certificate.der and ask.hex of test credentials", .required)
    private let contentID = Option(
        "content-id", .text("ID"), "the app's name for the key, 2 to 200 bytes", .required)
    private let out = Option("out", .path("SPC"), "where to write the SPC, or - for standard output", .required)
    private let state = Option(
        "state", .path("FILE"), "where to keep the state that opens the CKC, with mode 0600", .required)
    private let playback = Option(
        "playback-state",
        .choice([
            "start": PlaybackState.readyToStart, "playing": .playing, "renewal": .leaseExpiring, "stopped": .stopped,
            "none": nil,
        ]), "the player's state; defaults to start; none leaves it out")
    private let session = Option("session", .hexNumber, "the playback session; defaults to a random one")
    private let destination = Option(
        "shown-on",
        .choice(["device": StreamingDestination.device, "airplay": .airPlay, "adapter": .digitalAVAdapter]),
        "the destination of the picture; defaults to device")
    private let capability = Option(
        "capability",
        .choice([
            "hdcp": DeviceCapabilities.hdcpEnforcement, "offline": .offlineKey, "invalidation": .secureInvalidation,
            "offline2": .offlineKeyVersion2, "none": [],
        ]), "a capability of the device; defaults to hdcp", .repeatable)
    private let seed = Option(
        "seed", .number, "draw all random bytes from this number, so the SPC is the same each time")

    var usage: Usage {
        Usage(
            name: "spc", summary: "make an SPC, as a device does for a key request",
            details: """
                Works with test credentials only. The state file opens the one CKC that answers this SPC: see latchkey open-ckc.
                """,
            options: [
                credentials, contentID, out, state, playback, session, destination, capability, seed, Flag.json,
            ],
            examples: [
                "latchkey spc --credentials credentials --content-id my-asset --out my.spc --state my.state",
                "latchkey spc --credentials credentials --content-id my-asset --out my.spc --state my.state "
                    + "--playback-state renewal",
            ],
            yes: "the SPC and its state are written",
            no: "the credentials are not for tests, or a file cannot be read or written")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let out = try arguments.required(out)
        if out == "-", arguments[Flag.json] { throw UsageError("--json and --out - both want standard output.") }
        let device = try SimulatedDevice(directory: URL(fileURLWithPath: try arguments.required(credentials)))
        let identifier = ContentIdentifier(try arguments.required(contentID))
        let exchange = try exchange(of: device, for: identifier, arguments)
        try ExchangeFile.save(exchange, to: try arguments.required(state))
        try OutputFile.write(exchange.spc.revealed, to: out, for: .owner, console)
        if arguments[Flag.json] {
            try console.printJSON(Facts(contentID: "\(identifier)", bytes: exchange.spc.count))
        } else if out != "-" {
            console.print("SPC of \(exchange.spc.count) bytes for \(identifier)")
        }
        return .yes
    }

    private struct Facts: Encodable {
        let contentID: String
        let bytes: Int
    }

    private func exchange(
        of device: SimulatedDevice, for identifier: ContentIdentifier, _ arguments: Arguments
    ) throws -> KeyExchange {
        let options = options(arguments)
        guard let seed = arguments[seed] else {
            var generator = SystemRandomNumberGenerator()
            return try device.exchange(for: identifier, options: options, using: &generator)
        }
        var generator = SeededGenerator(seed: seed)
        return try device.exchange(for: identifier, options: options, using: &generator)
    }

    private func options(_ arguments: Arguments) -> SPCOptions {
        var options = SPCOptions()
        if let playback = arguments[playback] { options.playbackState = playback }
        if let destination = arguments[destination] { options.destination = destination }
        options.playbackSession = arguments[session].map { PlaybackSessionID(rawValue: $0) }
        let capabilities = arguments.all(capability)
        if !capabilities.isEmpty { options.capabilities = DeviceCapabilities(capabilities) }
        return options
    }
}

extension ValueForm<UInt64> {
    /// A whole number.
    fileprivate static let number = ValueForm(placeholder: "NUMBER") { text throws(UsageError) in
        guard let number = UInt64(text) else { throw UsageError("needs a whole number from 0, not \(quoted(text))") }
        return number
    }

    /// Sixteen hexadecimal digits.
    fileprivate static let hexNumber = ValueForm(placeholder: "HEX") { text throws(UsageError) in
        guard text.utf8.count == 16, let number = UInt64(text, radix: 16) else {
            throw UsageError("needs 16 hexadecimal digits, not \(quoted(text))")
        }
        return number
    }
}
