/// How a grant's value narrows a policy's: what is stricter of the two.
///
/// `nil` is what a policy does not state, which may mean no limit or a default; a grant's value never widens it.
struct NarrowingRule<Value: Sendable>: Sendable {
    let narrower: @Sendable (Value?, Value) -> Value?

    init(_ narrower: @escaping @Sendable (Value?, Value) -> Value?) { self.narrower = narrower }

    /// For values that limit nothing if they are not stated.
    static func stricter(_ stricter: @escaping @Sendable (Value, Value) -> Value) -> Self {
        Self { policy, grant in policy.map { stricter($0, grant) } ?? grant }
    }
}

extension NarrowingRule where Value: Comparable {
    static var smaller: Self { stricter { min($0, $1) } }
    static var larger: Self { stricter { max($0, $1) } }
}

extension NarrowingRule where Value == Bool {
    /// For permissions: only `false` narrows, and `true` leaves what the policy says.
    static let permission = Self { policy, grant in grant ? policy : false }
    /// For demands: only `true` narrows.
    static let demand = Self { policy, grant in grant ? true : policy }
}

extension NarrowingRule {
    /// For words with an order.
    /// - Parameters:
    ///   - usual: what a policy that states none means.
    ///   - strictness: higher is stricter.
    static func ranked(_ usual: Value, _ strictness: @escaping @Sendable (Value) -> Int) -> Self {
        Self { policy, grant in strictness(grant) > strictness(policy ?? usual) ? grant : policy }
    }

    /// For what is allowed.
    static func common<Element: Hashable & Sendable>() -> Self where Value == Set<Element> {
        stricter { $0.intersection($1) }
    }

    /// For what is forbidden.
    static func together<Element: Hashable & Sendable>() -> Self where Value == Set<Element> {
        stricter { $0.union($1) }
    }

    /// For values by name, the stricter of each.
    static func each<Key: Hashable & Sendable, Element: Sendable>(
        _ combine: @escaping @Sendable (Element, Element) -> Element
    ) -> Self where Value == [Key: Element] {
        stricter { $0.merging($1, uniquingKeysWith: combine) }
    }
}

/// One narrowing of a policy by a grant: what the tenant lets a grant widen, and what came of it.
struct Narrowing {
    /// The members that a grant may replace, such as `download.allow`.
    let mayWiden: Set<String>
    private(set) var notes: [PolicyNote] = []

    init(mayWiden: Set<String>) { self.mayWiden = mayWiden }

    mutating func narrowed<Value: Equatable>(
        _ policy: Value?, to grant: Value, _ path: String, _ rule: NarrowingRule<Value>?
    ) -> Value? {
        guard policy != grant else { return policy }
        if mayWiden.contains(path) {
            notes.append(PolicyNote(.replacedByGrant, "The grant replaces \(path)."))
            return grant
        }
        let result = rule.map { $0.narrower(policy, grant) } ?? policy
        notes.append(
            result == policy
                ? PolicyNote(.grantIgnored, "The grant does not narrow \(path), and may not widen it.")
                : PolicyNote(.narrowedByGrant, "The grant narrows \(path)."))
        return result
    }
}
