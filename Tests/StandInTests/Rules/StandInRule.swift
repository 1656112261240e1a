import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// A rule of an SDK, with a body that breaks it and otherwise keeps it.
///
/// Apple's and the vendors' pages behind a rule are named by the section of `Documentation/Players.md` that states it.
struct StandInRule: Sendable, CustomTestStringConvertible {
    enum Use: Sendable { case wrong, right }

    /// How a stand-in notices the wrong use.
    enum Notice: Sendable, Equatable {
        /// The real SDK raises an exception, ignores the call, or fails later: the log has the rules, in this order.
        case broken([RuleViolation.Rule])
        /// The body throws an error with these numbers, its own and that of an error below it.
        case numbers([Int])
    }

    let words: String
    let notice: Notice
    let section: String
    /// The players' behavior, the licenses' terms, and how long a callback of the wrong use may take.
    var behavior = StandInBehavior()
    var terms = LicenseTerms()
    var limit = Duration.seconds(60)
    /// A wrong use of a rule that is not a number's may also throw; the right use must not.
    let body: @Sendable (StandInFixture, Use) async throws -> Void

    /// - Parameters:
    ///   - words: a sentence that describes the SDK's correct use.
    ///   - rules: the rules that the wrong use breaks, the row's own rule last.
    init(
        _ words: String, _ rules: RuleViolation.Rule..., behavior: StandInBehavior = StandInBehavior(),
        terms: LicenseTerms = LicenseTerms(), limit: Duration = .seconds(60),
        body: @escaping @Sendable (StandInFixture, Use) async throws -> Void
    ) {
        (self.words, notice, section) = (words, .broken(rules), rules.last?.section ?? "")
        (self.behavior, self.terms, self.limit, self.body) = (behavior, terms, limit, body)
    }

    init(
        _ words: String, numbers: [Int], in section: String, terms: LicenseTerms = LicenseTerms(),
        body: @escaping @Sendable (StandInFixture, Use) async throws -> Void
    ) {
        (self.words, notice, self.section) = (words, .numbers(numbers), section)
        (self.terms, self.body) = (terms, body)
    }

    var testDescription: String { words }

    static let all = keySession + keyLife + resourceLoader + players + downloads + vendors
}

/// Each rule, broken once and kept once.
@Suite(.timeLimit(.minutes(2))) struct StandInRuleTests {
    @Test(arguments: StandInRule.all)
    func `wrong use is noticed, and right use is not`(_ rule: StandInRule) async throws {
        let wrong = try await outcome(of: .wrong, rule)
        switch rule.notice {
        // If callbacks have milliseconds, a busy machine is late with others, too.
        case .broken(let rules) where rule.limit < .seconds(1): #expect(Set(wrong.broken).isSuperset(of: rules))
        case .broken(let rules): #expect(wrong.broken == rules)
        case .numbers(let numbers): #expect(Set(wrong.numbers).isSuperset(of: numbers), "\(wrong)")
        }
        let right = try await outcome(of: .right, rule)
        #expect(right.broken == [] && right.numbers == [])
    }

    @Test func `the table has every rule, and the page states each`() throws {
        let broken = StandInRule.all.flatMap { rule -> [RuleViolation.Rule] in
            if case .broken(let rules) = rule.notice { rules } else { [] }
        }
        #expect(Set(broken) == Set(RuleViolation.Rule.allCases))
        #expect(Set(StandInRule.all.map(\.words)).count == StandInRule.all.count)
        let page = try PlayersPageTests.text("Documentation/Players.md")
        let headings = page.matches(of: #/\n##+ ([0-9.]*[0-9])\.? /#).map { "§\($0.output.1)" }
        for rule in StandInRule.all { #expect(headings.contains(rule.section), "\(rule.words) \(rule.section)") }
    }

    /// The violations that a separate stage noticed. The objects of the body are gone by then.
    private func outcome(
        of use: StandInRule.Use, _ rule: StandInRule
    ) async throws -> (broken: [RuleViolation.Rule], numbers: [Int]) {
        let fixture = try StandInFixture(
            rule.behavior, terms: rule.terms, callbackLimit: use == .wrong ? rule.limit : .seconds(60))
        var numbers: [Int] = []
        do { try await fixture.stage.run { try await rule.body(fixture, use) } } catch {
            var next: NSError? = error as NSError
            while let error = next {
                numbers.append(error.code)
                next = error.userInfo[NSUnderlyingErrorKey] as? NSError
            }
        }
        if use == .wrong, case .broken(let rules) = rule.notice, let last = rules.last {
            await fixture.log.untilViolation(last)
        }
        // Deallocation may still call back.
        for _ in 0..<10 { await Task.yield() }
        return (fixture.log.brokenRules, numbers)
    }
}

extension StandInPlayback.Result {
    /// Fails the test unless the stream played right. Swift does not notice that a closure throws if its only `try` is in a macro.
    func expectRight(at location: SourceLocation = #_sourceLocation) { #expect(isRight, sourceLocation: location) }
}
