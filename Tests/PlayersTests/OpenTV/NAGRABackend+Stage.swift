import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors

extension NAGRABackend {
    /// An app of a stage's service.
    convenience init(_ stage: PlayerStage) {
        let service = stage.service(for: .nagra)
        self.init(
            settings: service.parameters(at: "\(stage.address)/\(service.identifier)"),
            contentToken: service.issue(nil))
    }
}
