import Foundation
import LatchkeyCore

/// The user as whom a process continues, so that a check sees files as the service does.
package enum ProcessUser {
    /// Permanently gives up the process's privileges beyond the user's.
    /// - Parameter text: a name, or a number, which need not have a name.
    /// - Throws: `userUnknown`, `userRefused`.
    package static func become(_ text: String) throws(Diagnosis) {
        let entry = getpwnam(text)?.pointee ?? uid_t(text).flatMap { getpwuid($0)?.pointee }
        guard let user = entry?.pw_uid ?? uid_t(text) else {
            throw Diagnosis(
                code: "userUnknown", reason: "There is no user “\(text.onOneLine.prefix(60))”.",
                remedy: "Give the name or the number of the service's user.")
        }
        let group = entry?.pw_gid ?? gid_t(user)
        guard geteuid() != user else { return }
        var groups = [group]
        let isDone =
            (entry.map { initgroups($0.pw_name, group) } ?? setgroups(1, &groups)) == 0
            && setgid(group) == 0 && setuid(user) == 0
        guard isDone else {
            throw Diagnosis(
                code: "userRefused",
                reason: "The process cannot switch to another user: \(String(cString: strerror(errno))).",
                remedy: "Run the check as root, or as the service's user without --user.")
        }
    }
}
