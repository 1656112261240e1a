/// Problems of a page for people who do not see it, or see it badly.
extension ChromiumPage {
    /// Elements without a name, and missing landmarks, by Chromium's accessibility tree.
    func accessibilityProblems() async throws -> [String] {
        let tree = try await send("Accessibility.getFullAXTree")["nodes"]?.elements ?? []
        let nodes = tree.compactMap(\.members).filter { $0["ignored"] != .flag(true) }.map(Node.init)
        let unnamed = nodes.filter { Node.named.contains($0.role) && $0.name.isEmpty }.map {
            "\($0.role) without a name"
        }
        let missing = [("main", 1), ("banner", 1)].compactMap { role, count in
            let found = nodes.count { $0.role == role }
            return found == count ? nil : "\(found) of \(role)"
        }
        let titles = nodes.count { $0.role == "heading" && $0.level == 1 }
        return unnamed + missing + (titles == 1 ? [] : ["\(titles) headings of rank 1"])
    }

    /// A node of the tree.
    private struct Node {
        /// The roles that need a name.
        static let named: Set = [
            "RootWebArea", "table", "grid", "image", "img", "graphics-document", "SvgRoot", "link", "button", "textbox",
            "combobox", "checkbox", "region", "navigation", "Video",
        ]

        let role, name: String
        let level: Double?

        init(_ values: Chromium.Values) {
            role = values["role"]?.members?["value"]?.text ?? ""
            name = values["name"]?.members?["value"]?.text ?? ""
            let properties = values["properties"]?.elements?.compactMap(\.members) ?? []
            level = properties.first { $0["name"]?.text == "level" }?["value"]?.members?["value"]?.number
        }
    }

    /// Texts whose contrast is below level AA: 4.5, or 3 for large ones.
    ///
    /// Source: Web Content Accessibility Guidelines 2.2, success criterion 1.4.3.
    func contrastProblems() async throws -> [String] {
        try await value(Self.contrast).elements?.compactMap(\.text) ?? ["no answer"]
    }

    private static let contrast = """
        (() => {
          const numbers = (color) => { const found = color.match(/[\\d.]+/g).map(Number); return [...found.slice(0, 3), found[3] ?? 1]; };
          const over = (front, back) => front.slice(0, 3).map((part, index) => part * front[3] + back[index] * (1 - front[3]));
          const light = (color) => color.map((part) => part / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
            .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
          const behind = (element) => {
            if (!element) return [255, 255, 255];
            const color = numbers(getComputedStyle(element).backgroundColor);
            return color[3] === 1 ? color.slice(0, 3) : over(color, behind(element.parentElement));
          };
          const bad = new Set();
          const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (texts.nextNode()) {
            const text = texts.currentNode.data.trim();
            const element = texts.currentNode.parentElement;
            if (!text || element.closest('script, style, [hidden], :disabled') || !element.getClientRects().length) continue;
            const style = getComputedStyle(element);
            const back = behind(element);
            const front = over(numbers(element.closest('svg') ? style.fill : style.color), back);
            const [low, high] = [light(front), light(back)].sort((one, other) => one - other);
            const size = parseFloat(style.fontSize);
            const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
            const ratio = (high + 0.05) / (low + 0.05);
            if (ratio < (isLarge ? 3 : 4.5)) bad.add(`${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
          }
          return [...bad];
        })()
        """
}
