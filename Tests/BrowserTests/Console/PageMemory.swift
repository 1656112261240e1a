import Foundation

/// What a page holds after its garbage is collected.
struct PageMemory {
    /// In bytes.
    let heap: Double
    /// Nodes of the document and those that scripts hold.
    let nodes: Double

    init(of page: ChromiumPage) async throws {
        try await page.send("Performance.enable")
        // Twice: what the first one finds may have held others.
        for _ in 0..<2 { try await page.send("HeapProfiler.collectGarbage") }
        guard case .array(let metrics)? = try await page.send("Performance.getMetrics")["metrics"] else {
            throw Chromium.Failure(description: "Chromium measures nothing.")
        }
        func value(_ name: String) -> Double {
            metrics.first { $0.members?["name"]?.text == name }?.members?["value"]?.number ?? .infinity
        }
        (heap, nodes) = (value("JSHeapUsedSize"), value("Nodes"))
    }
}
