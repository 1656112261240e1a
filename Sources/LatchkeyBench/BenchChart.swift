import LatchkeyCore
import LatchkeySupport

extension Figure {
    /// The figure over the runs so far, with its aim.
    /// - Parameter values: the oldest first, the current one last; `nil` if not measured.
    func chart(of values: [Double?]) -> HTML {
        let measured = values.compactMap(\.self)
        let limit = aim?.limit
        let scale = measured + [limit].compactMap(\.self)
        guard let least = scale.min(), let most = scale.max() else {
            return .element("p", ["class": "soft"], "There is nothing to draw.")
        }
        let space = max((most - least) * 0.1, most.magnitude * 0.02, 1e-9)
        return .chart(
            words(of: measured), [.init(name, .stage, values)], range: least - space...most + space,
            marks: [most, least], aim: limit, isMissed: { isMet(by: $0) == false }, text: unit.text)
    }

    /// A description of the chart, in a sentence.
    private func words(of measured: [Double]) -> String {
        guard let least = measured.min(), let most = measured.max(), let last = measured.last else {
            return "\(name): not measured."
        }
        let (text, aim) = (unit.text, aimText.map { ", aimed at \($0)" } ?? "")
        let runs = measured.count.counted("run")
        return "\(name) in \(runs): from \(text(least)) to \(text(most)), at last \(text(last))\(aim)."
    }
}
