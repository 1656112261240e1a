#if canImport(AVFoundation)
    public import AVFoundation
    package import Latchkey
    import LatchkeyAVFoundation
    package import LatchkeyCore
    package import LatchkeyVendors

    /// Delivers keys to AVFoundation's assets, for code outside Swift: a vendor by name, settings as strings, credentials and
    /// outcomes as blocks.
    ///
    ///     LatchkeyKeys *keys = [[LatchkeyKeys alloc] initWithProfile:@"vudrm" settings:settings allowedHosts:@[] queue:nil
    ///                                                    credentials:credentials outcomes:outcomes error:&error];
    ///     [keys protectAsset:asset title:@"movie-1"];
    ///
    /// Create one per vendor configuration, and keep it as long as its assets play. When it is deallocated it closes. Safe to
    /// use from any thread. Swift uses `AVPlayerKeys` instead; C uses `latchkey.h`.
    #if canImport(ObjectiveC)
        @objcMembers @objc(LatchkeyKeys)
    #endif
    public final class HostKeys: NSObject, Sendable {
        /// Answers a request for credentials, from any thread. Only the first call counts. Credentials are strings by name, usually one
        /// string under `token`. Dropping the block without a call ends the request with the error `credentialsFailed`.
        public typealias Answer = @Sendable (_ credentials: [String: String]?, _ error: NSError?) -> Void
        /// Gets the credentials of one request, and calls the answer with them. Called on the queue, again for every attempt.
        public typealias CredentialSource =
            @Sendable (_ request: HostCredentialRequest, _ answer: @escaping Answer) -> Void
        /// Receives an outcome, on the queue, in chronological order.
        public typealias OutcomeHandler = @Sendable (_ outcome: HostOutcome) -> Void

        private let loader: ContentKeyLoader
        private let keys: AVPlayerKeys
        private let queue: DispatchQueue
        private let outcomes: OutcomeHandler
        private let events = Locked<Task<Void, Never>?>(nil)

        /// Creates the keys of a vendor.
        /// - Parameters:
        ///   - profile: The vendor's profile, one of `profiles`.
        ///   - settings: The profile's settings by name, such as `certificateURL`.
        ///   - allowedHosts: Additional hosts for license requests, in the form of `HostPolicy.Host`.
        ///   - queue: The serial queue on which the blocks are called. If `nil`, the main queue.
        ///   - credentials: Gets the credentials of each request; `nil` if the vendor needs none.
        ///   - outcomes: Receives failures and notices, and events after `reportEvents()`.
        /// - Throws: An `NSError` of the domain `Latchkey.ContentKeyError`, with a remedy: `unknownIntegration` for a profile
        ///   that does not exist, `missingSetting` for a required setting that is missing.
        // Without a name the compiler puts `error:` before the blocks.
        #if canImport(ObjectiveC)
            @objc(initWithProfile:settings:allowedHosts:queue:credentials:outcomes:error:)
        #endif
        public convenience init(
            profile: String, settings: [String: String], allowedHosts: [String], queue: DispatchQueue?,
            credentials: CredentialSource?, outcomes: @escaping OutcomeHandler
        ) throws {
            let source = credentials.map { source in
                { @Sendable (request: HostCredentialRequest, answer: PendingCredentials) in
                    source(request) { answer.take($0, $1) }
                }
            }
            do {
                try self.init(
                    profile, settings, allowedHosts: allowedHosts, queue: queue ?? .main, credentials: source,
                    outcomes: outcomes)
            } catch { throw error.nsError }
        }

        /// The names of all profiles, such as `vudrm`.
        public static var profiles: [String] { VendorProfile.all.map(\.identifier) }

        convenience init(
            _ profile: String, _ settings: [String: String], allowedHosts: [String], queue: DispatchQueue,
            credentials: PendingCredentials.Source?, outcomes: @escaping OutcomeHandler
        ) throws(ContentKeyError) {
            guard let named = VendorProfile.named(profile) else {
                throw ContentKeyError(
                    .unknownIntegration, "There is no profile \"\(profile.prefix(60))\".",
                    remedy: "Choose one of the profiles' names.")
            }
            let vendor: ConfiguredVendor
            do { vendor = try named.configured(settings) } catch { throw ContentKeyError(error, stage: nil) }
            let hosts = HostPolicy(allowed: Set(allowedHosts.map { HostPolicy.Host($0) }))
            self.init(
                vendor, configuration: LoaderConfiguration(hosts: hosts), queue: queue, credentials: credentials,
                outcomes: outcomes)
        }

        package init(
            _ vendor: ConfiguredVendor, configuration: LoaderConfiguration,
            timekeeper: any Timekeeper = SystemTimekeeper(),
            queue: DispatchQueue, credentials: PendingCredentials.Source?, outcomes: @escaping OutcomeHandler
        ) {
            loader = ContentKeyLoader(
                vendor, credentials: PendingCredentials.credentials(from: credentials, on: queue),
                configuration: configuration,
                timekeeper: timekeeper)
            keys = AVPlayerKeys(
                loader,
                onNotice: { notice in queue.async { outcomes(HostOutcome(notice)) } },
                onFailure: { failure in queue.async { outcomes(HostOutcome(failure)) } })
            self.queue = queue
            self.outcomes = outcomes
            super.init()
        }

        deinit { close() }
    }

    extension HostKeys {
        /// Provides an asset with its keys. Call it before the asset loads anything: before its player item is made.
        /// - Parameters:
        ///   - asset: The asset to play.
        ///   - title: The app's name for it, which credential requests and outcomes carry; `nil` if it has none.
        public func protectAsset(_ asset: AVURLAsset, title: String?) {
            keys.protect(asset, as: title.map { AssetID($0) })
        }

        /// Releases the keys of an asset that no longer plays.
        public func releaseAsset(_ asset: AVURLAsset) { keys.release(asset) }

        /// Releases all keys. Assets protected later still get keys.
        public func releaseAll() { keys.release() }

        /// Requests a key before an asset does.
        /// - Returns: `false` if the key is present or was requested, and in the simulator.
        @discardableResult
        public func preloadKey(_ keyURI: String, title: String?) -> Bool {
            keys.preload(KeyURI(keyURI), as: title.map { AssetID($0) })
        }

        /// Pauses renewals until `resume()`, for an app in the background that does not play.
        public func suspend() { keys.suspend() }

        /// Resumes renewals; overdue ones run immediately.
        public func resume() { keys.resume() }

        /// Requests the keys whose leases ended, after the network or the app is back.
        /// - Returns: The URIs of the requested keys.
        @discardableResult
        public func renewEndedKeys() -> [String] { keys.renewEndedKeys().map(\.raw).sorted() }

        /// Starts over after the media services were reset, or after the notice `stuck`. Make new assets and items, and protect them.
        public func replaceSession() { keys.replaceSession() }

        /// Also reports events, from the first one since these keys were created; for logs. A second call changes nothing.
        public func reportEvents() {
            events.withLock { task in
                guard task == nil else { return }
                task = startTask { [events = loader.events(), queue, outcomes] in
                    for await event in events { queue.async { outcomes(HostOutcome(event)) } }
                }
            }
        }

        /// Ends everything: open requests are answered with `cancelled`, and later ones get no key. Pending outcomes are still delivered.
        public func close() {
            events.withLock { $0 }?.cancel()
            loader.cancel()
            keys.release()
        }
    }
#endif
