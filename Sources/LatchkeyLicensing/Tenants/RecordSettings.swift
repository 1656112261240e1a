import LatchkeyForms

extension ServerSettings {
    /// The record of every license, renewal, refusal and end of a session.
    ///
    /// Source: `Documentation/Server/Record.md` §4.
    package struct Record: Sendable, Equatable {
        package internal(set) var folder = ""
        package internal(set) var destination = ""
        package internal(set) var megabytes = 1_024
        package internal(set) var whenFull = WhenFull.serve
        package internal(set) var sync = Sync.written
        package internal(set) var days: Int?
        package internal(set) var accounts = Accounts.names
        package internal(set) var decisions = Decisions.refusals

        /// The treatment of a license whose row cannot be kept.
        package enum WhenFull: String, Sendable, CaseIterable {
            case serve, refuse
        }

        /// When a row counts as kept.
        package enum Sync: String, Sendable, CaseIterable {
            case written, always
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
            .required("folder", \.folder, .text).explained(
                "The folder of the [spool](Record.md#2-the-spool), used only by this node, on a disk that outlives the node; 0700."
            ),
            .required("destination", \.destination, .text).explained(
                "`postgresql://…` or `files:PATH`, with the rows of all nodes: [Record.md](Record.md#3-where-rows-go)."),
            .defaulting("megabytes", \.megabytes, .whole(16...1_000_000), to: 1_024)
                .explained("The spool's maximum size, in megabytes."),
            .defaulting("whenFull", \.whenFull, .word, to: .serve).explained(
                "The treatment of a license whose row cannot be kept: `serve` issues it, and counts the lost row; `refuse` refuses it."
            ),
            .defaulting("sync", \.sync, .word, to: .written).explained(
                "When a row counts as kept: `written` once the system has it, and the disk within 100 ms; `always` once the disk has it."
            ),
            .optional("days", \.days, .whole(1...36_500)).explained(
                "The number of days that the destination keeps, including today; all days without it. An unshipped row is never dropped. For PostgreSQL, run `migrate` after a change ([Record.md](Record.md#31-postgresql))."
            ),
            .defaulting("accounts", \.accounts, .word, to: .names)
                .explained("How a row names an account: [Record.md](Record.md#5-privacy)."),
            .defaulting("decisions", \.decisions, .word, to: .refusals)
                .explained("The rows that include their decision, which has 1 to 4 KB."),
        ])
}
