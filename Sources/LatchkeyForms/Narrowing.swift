/// How a grant's value narrows a policy's: to the stricter of the two.
///
/// `nil` is a value that a policy does not state, which may mean no limit or a default; a grant's value never widens it.
package struct NarrowingRule<Value: Sendable>: Sendable {
    let narrower: @Sendable (Value?, Value) -> Value?

    package init(_ narrower: @escaping @Sendable (Value?, Value) -> Value?) { self.narrower = narrower }

    /// For values that limit nothing if they are absent.
    package static func stricter(_ stricter: @escaping @Sendable (Value, Value) -> Value) -> Self {
        Self { policy, grant in policy.map { stricter($0, grant) } ?? grant }
    }
}

extension NarrowingRule where Value: Comparable {
    package static var smaller: Self { stricter { min($0, $1) } }
    package static var larger: Self { stricter { max($0, $1) } }
}

extension NarrowingRule where Value == Bool {
    /// For permissions: only `false` narrows, and `true` leaves the policy's value.
    package static let permission = Self { policy, grant in grant ? policy : false }
    /// For demands: only `true` narrows.
    package static let demand = Self { policy, grant in grant ? true : policy }
}

extension NarrowingRule {
    /// For ordered words.
    /// - Parameters:
    ///   - usual: the meaning of a policy that states no value.
    ///   - strictness: higher is stricter.
    package static func ranked(_ usual: Value, _ strictness: @escaping @Sendable (Value) -> Int) -> Self {
        Self { policy, grant in strictness(grant) > strictness(policy ?? usual) ? grant : policy }
    }

    /// For allowed values.
    package static func common<Element: Hashable & Sendable>() -> Self where Value == Set<Element> {
        stricter { $0.intersection($1) }
    }

    /// For forbidden values.
    package static func together<Element: Hashable & Sendable>() -> Self where Value == Set<Element> {
        stricter { $0.union($1) }
    }

    /// For values by name, the stricter of each.
    package static func each<Key: Hashable & Sendable, Element: Sendable>(
        _ combine: @escaping @Sendable (Element, Element) -> Element
    ) -> Self where Value == [Key: Element] {
        stricter { $0.merging($1, uniquingKeysWith: combine) }
    }
}

/// One narrowing of a policy by a grant: the members that the tenant lets a grant widen, and the result for each member.
package struct Narrowing {
    /// The result for a member that the grant states with another value.
    package enum Result: Sendable, Hashable {
        /// The grant's value, because a grant may widen this member.
        case replaced
        /// A stricter value than the policy's.
        case narrowed
        /// The policy's value, because the grant's is not stricter.
        case ignored
    }

    /// The members that a grant may replace, such as `download.allow`.
    let mayWiden: Set<String>
    /// The results for the members, in their order.
    package private(set) var results: [(path: String, result: Result)] = []

    package init(mayWiden: Set<String>) { self.mayWiden = mayWiden }

    mutating func narrowed<Value: Equatable>(
        _ policy: Value?, to grant: Value, _ path: String, _ rule: NarrowingRule<Value>?
    ) -> Value? {
        guard policy != grant else { return policy }
        if mayWiden.contains(path) {
            results.append((path, .replaced))
            return grant
        }
        let result = rule.map { $0.narrower(policy, grant) } ?? policy
        results.append((path, result == policy ? .ignored : .narrowed))
        return result
    }
}
