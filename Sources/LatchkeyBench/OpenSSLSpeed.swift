import Foundation
import LatchkeyCore

/// The RSA result of `openssl speed` on one core: private-key operations per second of processor time.
///
/// It signs, which is the same private-key operation as the decryption of an SPC's key.
struct OpenSSLSpeed: Sendable {
    private let program: URL

    /// - Throws: `toolMissing`.
    init() throws(Diagnosis) { program = try ToolRun.find("openssl") }

    /// Measures. Blocks for twice the seconds, because public-key operations are measured too.
    /// - Parameters:
    ///   - bits: 1024 or 2048.
    ///   - seconds: the duration of each measurement.
    func privateOperations(bits: Int, seconds: Int) throws(Diagnosis) -> Double {
        let output = try ToolRun.output(of: program, ["speed", "-mr", "-seconds", "\(seconds)", "rsa\(bits)"])
        guard let rate = Self.privateOperations(in: output, bits: bits) else {
            throw .toolFailed("openssl speed", "its output has no line +F2 for \(bits) bits")
        }
        return rate
    }

    /// Reads the output of `-mr`: `+F2:number:bits:private:public`.
    static func privateOperations(in output: String, bits: Int) -> Double? {
        for line in output.split(whereSeparator: \.isNewline) where line.hasPrefix("+F2:") {
            let fields = line.split(separator: ":")
            guard fields.count >= 5, fields[2] == "\(bits)", let rate = Double(fields[3]), rate > 0 else { continue }
            return rate
        }
        return nil
    }
}
