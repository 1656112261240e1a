import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeySystem
import LatchkeyTerminal

/// The state of a key exchange between `latchkey spc` and `latchkey open-ckc`.
enum ExchangeFile {
    /// Writes the state, for its owner alone, whole or not at all.
    static func save(_ exchange: KeyExchange, to path: String) throws {
        let temporary = "\(path).\(UInt32.random(in: 0...(.max))).part"
        defer { unlink(temporary) }
        do { try exchange.save(to: URL(fileURLWithPath: temporary)) } catch {
            throw FileError.cannotWrite(path, because: InputFile.reason(error))
        }
        guard rename(temporary, path) == 0 else {
            throw FileError.cannotWrite(path)
        }
    }

    /// Reads a state.
    /// - Throws: `FileError` with `cannotRead` or `notAState`.
    static func read(_ path: String) throws(FileError) -> KeyExchange {
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw .cannotRead(path, because: "there is no file that may be read")
        }
        do { return try KeyExchange(file: URL(fileURLWithPath: path)) } catch { throw .notAState(path) }
    }
}

extension FileError {
    fileprivate static func notAState(_ path: String) -> Self {
        FileError(
            code: "notAState", reason: "\(path) is not the state of a key exchange.",
            remedy: "Give the file that latchkey spc --state wrote.")
    }
}
