#if canImport(AVFoundation)
    public import AVFoundation
    package import Latchkey
    import LatchkeyAVFoundation
    package import LatchkeyCore
    package import LatchkeyVendors

    /// Gives AVFoundation's assets their keys, for code outside Swift: a vendor by name, settings as texts, credentials and outcomes as
    /// blocks.
    ///
    ///     LatchkeyKeys *keys = [[LatchkeyKeys alloc] initWithProfile:@"vudrm" settings:settings allowedHosts:@[] queue:nil
    ///                                                    credentials:credentials outcomes:outcomes error:&error];
    ///     [keys protectAsset:asset title:@"movie-1"];
    ///
    /// Make one per vendor configuration, and keep it as long as its assets play. When it is deallocated it closes. Safe to use from any
    /// thread. Swift uses `AVPlayerKeys` instead; C uses `latchkey.h`.
    #if canImport(ObjectiveC)
        @objcMembers @objc(LatchkeyKeys)
    #endif
    public final class HostKeys: NSObject, Sendable {
        /// Answers a request for credentials, from any thread. The first call counts; later ones do nothing. Credentials are texts by name,
        /// mostly one text under `token`. Dropping the block without a call ends the request with the error `credentialsFailed`.
        public typealias Answer = @Sendable (_ credentials: [String: String]?, _ error: NSError?) -> Void
        /// Gets the credentials of one request, and calls the answer when it has them. Called on the queue, for every attempt anew.
        public typealias CredentialSource =
            @Sendable (_ request: HostCredentialRequest, _ answer: @escaping Answer) -> Void
        /// Takes an outcome, on the queue, in the order in which outcomes happen.
        public typealias OutcomeHandler = @Sendable (_ outcome: HostOutcome) -> Void

        private let loader: ContentKeyLoader
        private let keys: AVPlayerKeys
        private let queue: DispatchQueue
        private let outcomes: OutcomeHandler
        private let events = Locked<Task<Void, Never>?>(nil)

        /// Makes the keys of a vendor.
        /// - Parameters:
        ///   - profile: The vendor's profile, one of `profiles`.
        ///   - settings: The profile's settings by name, such as `certificateURL`.
        ///   - allowedHosts: Hosts beside those of the settings that license requests may go to, as `HostPolicy.Host` takes them.
        ///   - queue: The serial queue on which the blocks are called. Defaults to the main queue if it is `nil`.
        ///   - credentials: Gets the credentials of each request; `nil` if the vendor wants none.
        ///   - outcomes: Takes failures and notices, and events after `reportEvents()`.
        /// - Throws: An `NSError` of the domain `Latchkey.ContentKeyError`, with a remedy: `unknownIntegration` for a profile that does not
        ///   exist, `missingSetting` for a setting that the profile needs.
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
        /// Gives an asset its keys. Call it before the asset loads anything: before its player item is made.
        /// - Parameters:
        ///   - asset: What plays.
        ///   - title: The app's name for it, which credential requests and outcomes carry; `nil` if it has none.
        public func protectAsset(_ asset: AVURLAsset, title: String?) {
            keys.protect(asset, as: title.map { AssetID($0) })
        }

        /// Releases the keys of an asset that no longer plays.
        public func releaseAsset(_ asset: AVURLAsset) { keys.release(asset) }

        /// Releases all keys. Assets that are protected later get theirs.
        public func releaseAll() { keys.release() }

        /// Asks for a key before an asset does.
        /// - Returns: `false` if the key is there or was asked for, and in the simulator.
        @discardableResult
        public func preloadKey(_ keyURI: String, title: String?) -> Bool {
            keys.preload(KeyURI(keyURI), as: title.map { AssetID($0) })
        }

        /// Renews nothing until `resume()`, for an app in the background that does not play.
        public func suspend() { keys.suspend() }

        /// Renews again after `suspend()`; what is overdue at once.
        public func resume() { keys.resume() }

        /// Asks for the keys whose leases ended, once the network or the app is back.
        /// - Returns: The URIs of the keys that are asked for.
        @discardableResult
        public func renewEndedKeys() -> [String] { keys.renewEndedKeys().map(\.raw).sorted() }

        /// Starts over after the media services were reset, or after the notice `stuck`. Make new assets and items, and protect them.
        public func replaceSession() { keys.replaceSession() }

        /// Reports events too, from the first one since these keys were made; for logs. A second call changes nothing.
        public func reportEvents() {
            events.withLock { task in
                guard task == nil else { return }
                task = startTask { [events = loader.events(), queue, outcomes] in
                    for await event in events { queue.async { outcomes(HostOutcome(event)) } }
                }
            }
        }

        /// Ends everything: requests under way are answered with `cancelled`, and later ones get no key. Outcomes that are on their way
        /// still come.
        public func close() {
            events.withLock { $0 }?.cancel()
            loader.cancel()
            keys.release()
        }
    }
#endif
