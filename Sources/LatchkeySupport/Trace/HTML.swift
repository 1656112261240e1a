/// A piece of a page. External text enters only through `text` and the values of attributes, which escape it; names are literals.
package struct HTML: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The source, which is safe to put into a page.
    package let source: String

    private init(source: String) { self.source = source }

    /// Text, escaped.
    package init(stringLiteral text: String) { self = .text(text) }

    /// Nothing.
    package static let none = HTML(source: "")

    /// Text, escaped.
    package static func text(_ text: String) -> HTML { HTML(source: escaped(text)) }

    /// Several pieces in a row.
    package static func group(_ pieces: [HTML]) -> HTML { HTML(source: pieces.map(\.source).joined()) }

    /// An element.
    /// - Parameters:
    ///   - name: its name, a literal.
    ///   - attributes: their names, literals, and their values, which are escaped.
    package static func element(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:], _ content: [HTML] = []
    ) -> HTML {
        let opening = "<\(name)\(attributes.map { " \($0.key)=\"\(escaped($0.value))\"" }.joined())>"
        let isVoid = ["br", "col", "hr", "img", "link", "meta"].contains("\(name)")
        return HTML(source: isVoid ? opening : "\(opening)\(content.map(\.source).joined())</\(name)>")
    }

    /// An element with only text.
    package static func element(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:], _ text: String
    ) -> HTML { element(name, attributes, [.text(text)]) }

    /// The resources that a page may load and run: its own styles and embedded pictures. No script, no form, nothing from elsewhere.
    ///
    /// Styles are inline, because bars get their widths from the facts.
    package static let contentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

    /// A report as a whole page in English, in the shared style: a heading, a summary, and its parts.
    package static func page(title: String, heading: String, summary: String, _ parts: [HTML]) -> String {
        let head = element(
            "head", [:],
            [
                element("meta", ["charset": "utf-8"]),
                element("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
                element("meta", ["name": "color-scheme", "content": "light dark"]),
                element("meta", ["http-equiv": "Content-Security-Policy", "content": contentSecurityPolicy]),
                element("title", [:], title), HTML(source: "<style>\(TraceStyle.rules)</style>"),
            ])
        let body: [HTML] = [
            element("header", [:], [element("h1", [:], heading), element("p", ["class": "soft"], summary)]),
            element("main", [:], parts),
        ]
        return "<!DOCTYPE html>\n" + element("html", ["lang": "en"], [head, element("body", [:], body)]).source + "\n"
    }

    /// A part of a report.
    /// - Parameters:
    ///   - heading: its title.
    ///   - about: a line about it; `nil` for none.
    package static func section(_ heading: String, about: String? = nil, _ parts: [HTML]) -> HTML {
        let line = about.map { element("p", ["class": "soft"], $0) } ?? .none
        return element("section", [:], [element("h2", [:], heading), line] + parts)
    }

    /// Parts that a reader opens.
    package static func folded(_ summary: String, isOpen: Bool = false, _ parts: [HTML]) -> HTML {
        let content = [element("summary", [:], summary)] + parts
        return isOpen ? element("details", ["open": ""], content) : element("details", [:], content)
    }

    /// The meaning of the colors.
    /// - Parameters:
    ///   - name: its accessibility label.
    ///   - kinds: the kinds of bars, and their meanings.
    static func legend(_ name: String, _ kinds: [(kind: String, name: String)]) -> HTML {
        .element(
            "ul", ["class": "legend", "aria-label": name],
            kinds.map { kind, name in
                .element(
                    "li", [:],
                    [.element("span", ["class": "swatch bar \(kind)", "aria-hidden": "true"], ""), .text(name)])
            })
    }

    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { "&<>\"'".utf8.contains($0) || $0 < 0x20 }) else { return text }
        return text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            default: if scalar.value >= 0x20 { escaped.unicodeScalars.append(scalar) }
            }
        }
    }
}
