#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyAVFoundation

    /// The native half of a plugin for Flutter or React Native: players by name, and what happens to them as values that a bridge takes.
    @MainActor
    final class PluginHost {
        /// Takes an event of a player. Called on any thread.
        typealias Emit = @Sendable (_ player: String, _ event: [String: any Sendable]) -> Void

        private struct Playing {
            let player: AVPlayer
            let keys: AVPlayerKeys
            let events: Task<Void, Never>
        }

        private var playing: [String: Playing] = [:]
        private let emit: Emit

        init(emit: @escaping Emit) { self.emit = emit }

        /// - Parameters:
        ///   - vendor: The identifier of one of Latchkey's profiles, or a profile in JSON.
        ///   - settings: The vendor's settings, such as `certificateURL`.
        ///   - token: Asks the script for a token.
        /// - Throws: `IntegrationError` if the profile is not known, is malformed, or lacks a setting.
        func open(
            _ name: String, _ stream: URL, vendor: String, settings: [String: String],
            token: @escaping @Sendable () async throws -> String
        ) throws {
            close(name)
            let profile = try VendorProfile.named(vendor) ?? VendorProfile(json: Data(vendor.utf8))
            let loader = ContentKeyLoader(
                try profile.configured(settings), credentials: .token { _ in try await token() })
            let keys = AVPlayerKeys(loader) { [emit] failure in emit(name, Self.values(of: failure)) }
            let events = Task { [emit] in
                for await event in loader.events() {
                    guard let json = try? JSONEncoder().encode(event) else { continue }
                    emit(name, ["type": "key", "json": String(decoding: json, as: UTF8.self)])
                }
            }
            let asset = AVURLAsset(url: stream)
            keys.protect(asset)
            let player = AVPlayer(playerItem: AVPlayerItem(asset: asset))
            playing[name] = Playing(player: player, keys: keys, events: events)
            player.play()
        }

        func close(_ name: String) {
            guard let closed = playing.removeValue(forKey: name) else { return }
            closed.player.replaceCurrentItem(with: nil)
            closed.keys.release()
            closed.events.cancel()
        }

        /// Domain and code are stable: a script branches on them. The texts are for people.
        private nonisolated static func values(of failure: KeyFailure) -> [String: any Sendable] {
            let error = failure.error as NSError
            return [
                "type": "failure", "domain": error.domain, "code": error.code, "key": failure.key?.raw ?? "",
                "message": failure.loaderError?.viewerMessage?.localized() ?? error.localizedDescription,
            ]
        }
    }
#endif
