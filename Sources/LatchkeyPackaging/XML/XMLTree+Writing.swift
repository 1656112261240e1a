package import Foundation

extension XMLTree {
    /// The document in UTF-8.
    package var data: Data {
        var text = declaration.map { "\($0)\n" } ?? ""
        for node in prolog {
            node.write(to: &text)
            text += "\n"
        }
        root.write(to: &text)
        for node in epilog {
            text += "\n"
            node.write(to: &text)
        }
        return Data(text.utf8)
    }
}

extension XMLTree.Element {
    /// The element and everything inside.
    func write(to text: inout String) {
        text += "<\(name.written)"
        for attribute in attributes {
            text += " \(attribute.name.written)=\"\(Self.escaped(attribute: attribute.value))\""
        }
        guard !children.isEmpty || !isShort else {
            text += "/>"
            return
        }
        text += ">"
        for child in children { child.write(to: &text) }
        text += "</\(name.written)>"
    }

    private static func escaped(attribute value: String) -> String {
        value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case "\"": text += "&quot;"
            case "\t", "\n", "\r": text += "&#\(scalar.value);"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension XMLTree.Node {
    func write(to text: inout String) {
        switch self {
        case .element(let element): element.write(to: &text)
        case .text(let part): text += Self.escaped(part)
        case .characterData(let part): text += "<![CDATA[\(part)]]>"
        case .comment(let part): text += "<!--\(part)-->"
        case .instruction(let target, let data): text += data.isEmpty ? "<?\(target)?>" : "<?\(target) \(data)?>"
        }
    }

    private static func escaped(_ part: String) -> String {
        part.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\r": text += "&#13;"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
