extension XMLTree {
    /// One element. A class, so that a document is changed in place.
    package final class Element {
        /// The name.
        package let name: Name
        /// The attributes in order.
        package var attributes: [Attribute]
        /// The contents in order.
        package var children: [Node] = []
        /// Whether it is written as `<a/>` while it is empty.
        var isShort = true
        /// The namespaces by prefix that are in force inside the element.
        let scope: [String: String]

        init(name: Name, attributes: [Attribute] = [], scope: [String: String] = [:]) {
            self.name = name
            self.attributes = attributes
            self.scope = scope
        }

        /// The root of a new document.
        /// - Parameters:
        ///   - local: the name.
        ///   - vocabulary: its namespace.
        ///   - others: further namespaces to declare.
        package convenience init(_ local: String, in vocabulary: Vocabulary, declaring others: [Vocabulary] = []) {
            let all = [vocabulary] + others
            self.init(
                name: Name(prefix: vocabulary.prefix, local: local, namespace: vocabulary.namespace),
                attributes: all.map(\.declaration),
                scope: Dictionary(all.map { ($0.prefix, $0.namespace) }, uniquingKeysWith: { first, _ in first }))
        }
    }

    /// A namespace, and its prefix in the specifications' examples.
    package struct Vocabulary: Sendable, Hashable {
        /// The namespace.
        package let namespace: String
        /// The prefix for new elements.
        package let prefix: String

        var declaration: Attribute {
            Attribute(name: Name(prefix: "xmlns", local: prefix, namespace: ""), value: namespace)
        }
    }
}

extension XMLTree.Element {
    /// Whether it has this name in this namespace.
    package func isNamed(_ local: String, in vocabulary: XMLTree.Vocabulary) -> Bool {
        name.local == local && name.namespace == vocabulary.namespace
    }

    /// The child elements, in order.
    package var elements: [XMLTree.Element] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The child elements with a name, in order.
    package func elements(_ local: String, in vocabulary: XMLTree.Vocabulary) -> [XMLTree.Element] {
        elements.filter { $0.isNamed(local, in: vocabulary) }
    }

    /// The first child element with a name, or `nil`.
    package func first(_ local: String, in vocabulary: XMLTree.Vocabulary) -> XMLTree.Element? {
        elements.first { $0.isNamed(local, in: vocabulary) }
    }

    /// The element at the end of a path of names, or `nil`.
    package func first(path: [(String, XMLTree.Vocabulary)]) -> XMLTree.Element? {
        path.reduce(self) { element, step in element?.first(step.0, in: step.1) }
    }

    /// The value of an attribute without a prefix, or `nil`. Setting keeps its place, or adds it at the end.
    package subscript(_ attribute: String) -> String? {
        get { attributes.first { $0.name.prefix.isEmpty && $0.name.local == attribute }?.value }
        set {
            let index = attributes.firstIndex { $0.name.prefix.isEmpty && $0.name.local == attribute }
            switch (index, newValue) {
            case (let index?, let value?): attributes[index].value = value
            case (let index?, nil): attributes.remove(at: index)
            case (nil, let value?):
                attributes.append(
                    XMLTree.Attribute(
                        name: XMLTree.Name(prefix: "", local: attribute, namespace: ""), value: value))
            case (nil, nil): break
            }
        }
    }

    /// The text directly inside, without comments. Setting replaces everything inside.
    package var text: String {
        get {
            children.reduce(into: "") { text, child in
                switch child {
                case .text(let part), .characterData(let part): text += part
                case .element, .comment, .instruction: break
                }
            }
        }
        set { children = newValue.isEmpty ? [] : [.text(newValue)] }
    }

    /// Removes a child element.
    package func remove(_ element: XMLTree.Element) {
        children.removeAll { if case .element(let child) = $0 { child === element } else { false } }
    }

    /// Adds an element at the end, or before another.
    ///
    /// It takes the parent's prefix if both are in one namespace, else the examples' prefix, which is declared if needed.
    /// - Returns: the new element.
    @discardableResult
    package func add(
        _ local: String, in vocabulary: XMLTree.Vocabulary, before next: XMLTree.Element? = nil
    ) -> XMLTree.Element {
        var scope = scope
        var declarations: [XMLTree.Attribute] = []
        let prefix = name.namespace == vocabulary.namespace ? name.prefix : vocabulary.prefix
        if scope[prefix] != vocabulary.namespace {
            scope[prefix] = vocabulary.namespace
            declarations = [vocabulary.declaration]
        }
        let element = XMLTree.Element(
            name: XMLTree.Name(prefix: prefix, local: local, namespace: vocabulary.namespace),
            attributes: declarations, scope: scope)
        let place = next.flatMap { next in
            children.firstIndex { if case .element(let child) = $0 { child === next } else { false } }
        }
        children.insert(.element(element), at: place ?? children.endIndex)
        return element
    }
}
