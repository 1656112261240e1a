import LatchkeyForms

extension ServerSettings {
    /// The record of every license, renewal, refusal and end of a session.
    ///
    /// Source: `Documentation/Server/Record.md` §4.
    package struct Record: Sendable, Equatable {
        /// The folder of the spool, for this node alone.
        package internal(set) var folder = ""
        /// `postgresql://…` or `files:PATH`: where the rows of all nodes are kept.
        package internal(set) var destination = ""
        /// The most megabytes of the spool, 16 to 1,000,000.
        package internal(set) var megabytes = 1_024
        package internal(set) var whenFull = WhenFull.serve
        package internal(set) var sync = Sync.written
        /// How many days the destination keeps; `nil` for all.
        package internal(set) var days: Int?
        package internal(set) var accounts = Accounts.names
        package internal(set) var decisions = Decisions.refusals

        /// The treatment of a license whose row cannot be kept.
        package enum WhenFull: String, Sendable, CaseIterable {
            /// It is given, and the lost row is counted.
            case serve
            /// It is refused.
            case refuse
        }

        /// When a row counts as kept.
        package enum Sync: String, Sendable, CaseIterable {
            /// The system has it, and the disk within 100 ms.
            case written
            /// The disk has it.
            case always
        }

        /// How a row names an account.
        package enum Accounts: String, Sendable, CaseIterable {
            case names, pseudonyms
        }

        /// Which rows have their decision.
        package enum Decisions: String, Sendable, CaseIterable {
            case all, refusals, none
        }
    }
}

extension ServerSettings.Record {
    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("folder", \.folder, .text), .required("destination", \.destination, .text),
            .defaulting("megabytes", \.megabytes, .whole(16...1_000_000), to: 1_024),
            .defaulting("whenFull", \.whenFull, .word, to: .serve),
            .defaulting("sync", \.sync, .word, to: .written), .optional("days", \.days, .whole(1...36_500)),
            .defaulting("accounts", \.accounts, .word, to: .names),
            .defaulting("decisions", \.decisions, .word, to: .refusals),
        ])
}
