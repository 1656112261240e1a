import Foundation

/// Finds problems of a profile whose form is right.
struct ProfileCheck {
    private let profile: VendorProfile
    private(set) var problems: [ProfileProblem] = []

    init(_ profile: VendorProfile) {
        self.profile = profile
        checkNames()
        checkParameters()
        checkReadNames()
        for rule in profile.placedRules { checkRule(rule) }
        for (place, request) in profile.placedRequests { checkRequest(request, at: place) }
        checkReplies()
        checkSettings()
    }

    private mutating func note(_ field: String, _ reason: String) {
        problems.append(ProfileProblem(field: field, reason: reason))
    }

    private mutating func checkNames() {
        let parts = profile.identifier.split(separator: "-", omittingEmptySubsequences: false)
        if !parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isLowerCaseOrDigit) }) {
            note("identifier", "An identifier has lower-case letters and digits, in parts joined by hyphens.")
        }
        if profile.name.isBlank { note("name", "The name is empty.") }
        if let evidence = profile.evidence {
            if !evidence.read.isCalendarDay { note("evidence.read", "A day is written as 2026-11-22.") }
            if evidence.source.isBlank { note("evidence.source", "The source is empty.") }
        }
        for (index, host) in profile.hosts.enumerated()
        where URL(string: "https://\(host)/")?.host?.isEmpty != false
            || host.contains("/")
        {
            note("hosts[\(index)]", "A host has the form HOST or HOST:PORT, without a scheme or a path.")
        }
    }

    private mutating func checkParameters() {
        var names: Set<String> = []
        for (index, parameter) in profile.parameters.enumerated() {
            let place = "parameters[\(index)]"
            if !parameter.name.utf8.allSatisfy(\.isNameByte) || parameter.name.isEmpty {
                note("\(place).name", "A parameter's name has letters, digits, hyphens and underscores.")
            }
            if !names.insert(parameter.name).inserted {
                note("\(place).name", "Another parameter has the name \"\(parameter.name)\".")
            }
            if let alias = parameter.alias, !names.insert(alias).inserted {
                note("\(place).alias", "Another parameter has the name \"\(alias)\".")
            }
            if parameter.meaning.isBlank { note("\(place).meaning", "The meaning is empty.") }
            if parameter.example.isBlank { note("\(place).example", "The example is empty.") }
            if parameter.name.hasSuffix("URL"), !parameter.example.isBlank, !parameter.example.isWebAddress {
                note("\(place).example", "The example for a URL is not an https URL.")
            }
        }
    }

    /// Checks that each name that a rule reads is a parameter, and that a rule reads each parameter.
    private mutating func checkReadNames() {
        var read: Set<String> = []
        for placed in profile.placedRules {
            let names = placed.rule.names
            for name in names.settings.sorted() { checkRead(name, isCredential: false, at: placed.place) }
            for name in names.credentials.sorted() { checkRead(name, isCredential: true, at: placed.place) }
            read.formUnion(names.settings.union(names.credentials))
        }
        for (index, parameter) in profile.parameters.enumerated() where !read.contains(parameter.name) {
            note("parameters[\(index)]", "No rule reads \"\(parameter.name)\".")
        }
    }

    private mutating func checkRead(_ name: String, isCredential: Bool, at place: String) {
        let word = isCredential ? "credential" : "setting"
        let parameters = profile.parameters.filter { $0.name == name }
        if parameters.isEmpty {
            note(place, "The rule reads the \(word) \"\(name)\", which is not among the parameters.")
        } else if !parameters.contains(where: { $0.isCredential == isCredential }) {
            note(place, "The rule reads \"\(name)\" as a \(word), but the parameters declare it otherwise.")
        }
    }

    private mutating func checkRule(_ placed: PlacedRule) {
        for rule in placed.rule.tree {
            if let reason = rule.flaw { note(placed.place, reason) }
            if let reason = obstacle(to: rule, at: placed.place) { note(placed.place, reason) }
        }
    }

    /// Why a leaf finds nothing at its place; `nil` if it may find something.
    private func obstacle(to rule: TextRule, at place: String) -> String? {
        switch rule {
        case .lookup(let name) where place.hasPrefix("lookup."):
            "The lookup's own request cannot read \"\(name)\" from its reply."
        case .lookup(let name) where profile.lookup?.values[name] == nil:
            "The rule reads \"\(name)\" from the lookup, which does not keep it."
        case .reply where !place.hasPrefix("terms."): "Only terms can read the license reply."
        case .contentID where ["contentIdentifier", "requestContentID"].contains(place):
            "The rule that makes the content id cannot read it."
        default: nil
        }
    }

    private mutating func checkRequest(_ request: RequestRule, at place: String) {
        if request.method.isEmpty || !request.method.utf8.allSatisfy((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains) {
            note("\(place).method", "A method has capital letters, such as POST.")
        }
        if request.method == "GET", request.body != nil { note("\(place).body", "A GET has no body.") }
        if case .fixed(let text) = request.url.base, !text.isWebAddress {
            note("\(place).url.base", "The text is not an https URL.")
        }
        for (index, header) in request.headers.enumerated() where !header.hasValidName {
            note("\(place).headers[\(index)].name", "\"\(header.name)\" is not a valid header field name.")
        }
        for (fieldPlace, field) in request.body?.placedFields(at: "\(place).body") ?? [] where field.name.isEmpty {
            note("\(fieldPlace).name", "The name is empty.")
        }
        if ["license", "renewalRequest"].contains(place), !request.sendsSPC {
            note(place, "The request sends the SPC nowhere: no body of it and no rule reads it.")
        }
    }

    private mutating func checkReplies() {
        for path in profile.decoder.paths where path.isEmpty { note("decoder", "A path is empty.") }
        if profile.decoder.needsPaths, profile.decoder.paths.isEmpty { note("decoder", "There is no path to the CKC.") }
        checkPaths(profile.sideValues, at: "sideValues")
        checkErrors(profile.errors, at: "errors")
        if let lookup = profile.lookup {
            checkPaths(lookup.values, at: "lookup.values")
            checkErrors(lookup.errors, at: "lookup.errors")
        }
        guard let session = profile.session else { return }
        checkPaths(session.values, at: "session.values")
        if session.period.isEmpty { note("session.period", "The path is empty.") }
        if session.setup == nil {
            for name in (session.values.keys + [session.period]).sorted() where profile.sideValues[name] == nil {
                note("session.setup", "A license opens the session, and \"\(name)\" is not among its side values.")
            }
        }
        if let name = session.enforcedBy, profile.sideValues[name] == nil {
            note("session.enforcedBy", "\"\(name)\" is not among the side values.")
        }
        if let errors = session.errors { checkErrors(errors, at: "session.errors") }
    }

    private mutating func checkPaths(_ paths: [String: String], at place: String) {
        for (name, path) in paths.sorted(by: { $0.key < $1.key }) where path.isEmpty {
            note("\(place).\(name)", "The path is empty.")
        }
    }

    private mutating func checkErrors(_ errors: ErrorRules, at place: String) {
        if errors.successes.isEmpty || !errors.successes.allSatisfy((200..<400).contains) {
            note("\(place).successes", "Accepted statuses are from 200 to 399.")
        }
        for (code, documented) in errors.codes.sorted(by: { $0.key < $1.key }) {
            if let status = documented.status, !(100..<600).contains(status) {
                note("\(place).codes.\(code).status", "A status is from 100 to 599.")
            }
            for (name, text) in [("meaning", documented.meaning), ("remedy", documented.remedy)]
            where text.map({ !$0.hasSuffix(".") }) == true {
                note("\(place).codes.\(code).\(name)", "This is a sentence, which ends with a full stop.")
            }
        }
        guard errors.code.isEmpty else { return }
        if errors.refusesWithSuccess {
            note("\(place).refusesWithSuccess", "Without a place for the vendor's code no reply can refuse with it.")
        }
        // A status may take the place of a code.
        if let code = errors.codes.keys.sorted().first(where: { Int($0).map { (100..<600).contains($0) } != true }) {
            let member = errors.codes[code]?.isKindAlone == true ? "kinds" : "codes"
            note("\(place).\(member).\(code)", "The code is looked for nowhere: \"code\" names no place.")
        }
    }

    private mutating func checkSettings() {
        for (name, value) in profile.settings.sorted(by: { $0.key < $1.key }) {
            switch profile.parameters.first(where: { $0.name == name })?.isCredential {
            case nil: note("settings.\(name)", "There is no parameter of this name.")
            case true?: note("settings.\(name)", "A credential does not belong in a file.")
            case false?:
                if name.hasSuffix("URL"), !value.isWebAddress { note("settings.\(name)", "This is not an https URL.") }
            }
        }
        let renewal = profile.renewal
        if renewal.minimumLead < 0 { note("renewal.minimumLead", "The time is negative.") }
        if renewal.minimumInterval < 0 { note("renewal.minimumInterval", "The time is negative.") }
        if let interval = renewal.interval, interval <= 0 { note("renewal.interval", "The time is not positive.") }
    }
}
