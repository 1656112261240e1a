import Foundation
import LatchkeyCore

/// The process's terminal.
package enum Terminal {
    private static let usual = Locked<termios?>(nil)

    /// Whether both standard input and standard error are terminals, so that the user can be asked.
    package static var canAsk: Bool { isatty(0) == 1 && isatty(2) == 1 }

    /// Asks for a text without showing it. Blocks.
    /// - Returns: the line; nil at the end of input.
    package static func askSecretly(_ question: String) -> String? {
        FileHandle.standardError.write(Data(question.utf8))
        var attributes = termios()
        guard tcgetattr(0, &attributes) == 0 else { return nil }
        usual.withLock { $0 = attributes }
        attributes.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(0, TCSAFLUSH, &attributes)
        let line = readLine(strippingNewline: true)
        restore()
        FileHandle.standardError.write(Data("\n".utf8))
        return line
    }

    /// Removes the progress and shows typed text again, when a signal ends the process.
    package static func restore() {
        let attributes = usual.withLock { usual in
            defer { usual = nil }
            return usual
        }
        if var attributes { tcsetattr(0, TCSANOW, &attributes) }
        if isatty(2) == 1 { FileHandle.standardError.write(Data("\r\u{1b}[K".utf8)) }
    }
}
