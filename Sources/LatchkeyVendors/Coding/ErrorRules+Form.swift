import LatchkeyCore
import LatchkeyForms

extension ErrorRules {
    static let form = ObjectForm(
        empty: ErrorRules(),
        members: [
            .defaulting("successes", \.successes, .set(.whole(100...599)), to: ErrorRules().successes),
            .defaulting("code", \.code, .list(.replyField), to: []),
            .defaulting("message", \.message, .list(.replyField), to: []),
            .defaulting("requestID", \.requestID, .list(.anyText), to: ErrorRules().requestID),
            .defaulting("requestIDInBody", \.requestIDInBody, .list(.anyText), to: []),
            .defaulting("kinds", \.kinds, .members(.anyText, .word), to: [:]),
            .defaulting("codes", \.documentedCodes, .members(.anyText, DocumentedCode.form.form), to: [:]),
            .defaulting("refusesWithSuccess", \.refusesWithSuccess, .flag, to: false),
        ], takesNull: true)

    /// The codes of which only the kind is known.
    private var kinds: [String: ServiceKind] {
        get { codes.filter(\.value.isKindAlone).mapValues { ServiceKind(kind: $0.kind) } }
        set { codes = newValue.mapValues { DocumentedCode($0.kind) } }
    }

    /// The codes of which more is known, which take precedence.
    private var documentedCodes: [String: DocumentedCode] {
        get { codes.filter { !$0.value.isKindAlone } }
        set { codes.merge(newValue) { $1 } }
    }
}

extension JSONForm<ErrorRules.ReplyField> {
    static let replyField: JSONForm<ErrorRules.ReplyField> = rules([
        .with("header", .anyText) { .header($0) }, .with("json", .anyText) { .json($0) },
        .with("word", .anyText) { .word($0) }, .alone("knownCode", .knownCode), .alone("text", .text),
    ]) { field in
        switch field {
        case .header(let name): .object(["header": .text(name)])
        case .json(let path): .object(["json": .text(path)])
        case .word(let start): .object(["word": .text(start)])
        case .knownCode: .text("knownCode")
        case .text: .text("text")
        }
    }
}

extension DocumentedCode {
    /// The kind is read first: the other members are deviations from its usual values.
    fileprivate static let form = ObjectForm(
        empty: DocumentedCode(.invalidRequest),
        members: [
            .required("kind", \.service, .word), .optional("status", \.status, .whole(100...599)),
            .optional("meaning", \.meaning, .anyText), .optional("remedy", \.ownRemedy, .anyText),
            .optional("retry", \.ownRetry, .flag), .optional("newCredentials", \.ownNewCredentials, .flag),
        ], takesNull: true)

    private var service: ServiceKind {
        get { ServiceKind(kind: kind) }
        set { kind = newValue.kind }
    }

    private var ownRemedy: String? {
        get { remedy == kind.remedy ? nil : remedy }
        set { remedy = newValue ?? kind.remedy }
    }

    private var ownRetry: Bool? {
        get { isRetryable == kind.isRetryable ? nil : isRetryable }
        set { isRetryable = newValue ?? kind.isRetryable }
    }

    private var ownNewCredentials: Bool? {
        get { wantsNewCredentials == kind.wantsNewCredentials ? nil : wantsNewCredentials }
        set { wantsNewCredentials = newValue ?? kind.wantsNewCredentials }
    }
}

/// A kind that a service's code may mean.
struct ServiceKind: RawRepresentable, CaseIterable, Hashable {
    static let allCases = Diagnosis.Kind.all.filter { 200..<300 ~= $0.number }.map(Self.init(kind:))

    let kind: Diagnosis.Kind
    var rawValue: String { kind.rawValue }

    init(kind: Diagnosis.Kind) { self.kind = kind }

    init?(rawValue: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = found
    }
}
