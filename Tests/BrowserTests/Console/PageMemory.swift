import Foundation

/// A page's memory after garbage collection.
struct PageMemory {
    /// In bytes.
    let heap: Double
    /// Nodes of the document and nodes held by scripts.
    let nodes: Double

    init(of page: ChromiumPage) async throws {
        try await page.send("Performance.enable")
        // Twice: the objects that the first one frees may have held others.
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
