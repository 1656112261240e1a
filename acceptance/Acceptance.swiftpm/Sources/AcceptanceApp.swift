import AVKit
import SwiftUI
import UniformTypeIdentifiers

@main
struct AcceptanceApp: App {
    var body: some Scene {
        WindowGroup { AcceptanceView() }
    }
}

/// The list of observations, the picture above it, and the result.
struct AcceptanceView: View {
    @State private var trials: Trials?
    @State private var result = AcceptanceResult(
        system: UIDevice.current.systemVersion, device: UIDevice.current.model, vendor: "")
    @State private var running: String?
    @State private var isLoading = false
    @State private var problem: String?

    var body: some View {
        NavigationStack {
            VStack(spacing: 0) {
                if let shown = trials?.shown as? UIView {
                    ShownView(view: shown).frame(height: 220)
                } else if let trials {
                    VideoPlayer(player: trials.player).frame(height: 220)
                }
                if let problem { Text(problem).foregroundStyle(.red).padding() }
                List(Observation.all) { observation in row(observation) }
            }
            .navigationTitle("Acceptance")
            .toolbar {
                Button("Load the setup") { isLoading = true }
                Button("Play the download") { trials?.playDownload() }
                ShareLink("Share the result", item: String(decoding: result.json, as: UTF8.self))
            }
            .fileImporter(isPresented: $isLoading, allowedContentTypes: [.json]) { load($0) }
        }
    }

    private func row(_ observation: Observation) -> some View {
        VStack(alignment: .leading, spacing: 6) {
            Text(observation.do).font(.headline)
            Text(observation.see).font(.subheadline).foregroundStyle(.secondary)
            if let finding = result.findings[observation.id] {
                Text("\(finding.outcome.rawValue): \(finding.note)").font(.caption)
            }
            HStack {
                if observation.by == .app {
                    Button(running == observation.id ? "…" : "Try") { Task { await make(observation) } }
                        .disabled(trials == nil || running != nil)
                }
                ForEach(Finding.Outcome.allCases, id: \.self) { outcome in
                    Button(outcome.rawValue) {
                        result.findings[observation.id] = Finding(outcome: outcome, note: "by hand")
                    }
                }
            }
            .buttonStyle(.bordered)
        }
    }

    private func make(_ observation: Observation) async {
        running = observation.id
        defer { running = nil }
        guard let finding = await trials?.finding(for: observation.id) else { return }
        result.findings[observation.id] = finding
    }

    private func load(_ picked: Result<URL, any Error>) {
        do {
            let file = try picked.get()
            let isOpen = file.startAccessingSecurityScopedResource()
            defer { if isOpen { file.stopAccessingSecurityScopedResource() } }
            let setup = try JSONDecoder().decode(Setup.self, from: Data(contentsOf: file))
            trials = Trials(setup)
            result.vendor = setup.vendor
            problem = nil
        } catch {
            problem = "The setup cannot be read: \(error.localizedDescription)"
        }
    }
}

/// The view of a player's SDK.
struct ShownView: UIViewRepresentable {
    let view: UIView

    func makeUIView(context: Context) -> UIView { view }
    func updateUIView(_ uiView: UIView, context: Context) {}
}
