// Own text: what the adapters use of AVFoundation.
// Source: public bindings (objc2, dotnet/macios) and Apple's documentation pages; first written 22 November 2026. Stored keys (token, invalidation)
// and random device identifiers: Apple's pages of each symbol, read 22 November 2026.
#pragma once
#import <Foundation/Foundation.h>
#import <CoreMedia/CoreMedia.h>
#define IN(p,v) __attribute__((availability(p,introduced=v)))
#define NOT(p) __attribute__((availability(p,unavailable)))
#define DEP(p,a,b) __attribute__((availability(p,introduced=a,deprecated=b)))
#define AV_A IN(ios,10.3) IN(macos,10.12.4) IN(tvos,10.2) IN(watchos,7.0) IN(visionos,1.0)
#define AV_B IN(ios,11.0) IN(macos,10.13) IN(tvos,11.0) IN(watchos,7.0) IN(visionos,1.0)
#define AV_C IN(ios,12.0) IN(macos,10.14) IN(tvos,12.0) IN(watchos,7.0) IN(visionos,1.0)
#define AV_D IN(ios,13.0) IN(macos,10.15) IN(tvos,13.0) IN(watchos,7.0) IN(visionos,1.0)
#define AV_E IN(ios,14.5) IN(macos,11.3) IN(tvos,14.5) IN(watchos,7.4) IN(visionos,1.0)
#define AV_F IN(ios,11.0) IN(macos,10.15) IN(tvos,17.0) IN(watchos,7.0) IN(visionos,1.0)
#define AV_H IN(ios,17.4) IN(macos,14.4) IN(tvos,17.4) NOT(watchos) IN(visionos,1.1)
#define AV_HB IN(ios,17.4) IN(macos,14.4) IN(tvos,17.4) IN(watchos,10.4) IN(visionos,1.1)
#define AV_26 IN(ios,26.0) IN(macos,26.0) IN(tvos,26.0) IN(watchos,26.0) IN(visionos,26.0)
#define AV_27 IN(ios,27.0) IN(tvos,27.0) NOT(macos) NOT(watchos) NOT(visionos) NOT(maccatalyst)
#define AV_IE IN(ios,15.0) IN(macos,12.0) IN(tvos,15.0) IN(watchos,8.0) IN(visionos,1.0)
#define AV_RL IN(ios,6.0) IN(macos,10.9) IN(tvos,9.0) NOT(watchos) IN(visionos,1.0)
#define AV_DL IN(ios,9.0) IN(macos,10.15) NOT(tvos) IN(watchos,10.0) IN(visionos,1.0)
#ifdef AUDITED
NS_AUDITED_BEGIN
#else
#pragma clang assume_nonnull begin
#endif
@class AVContentKeySession, AVContentKeyRequest, AVPersistableContentKeyRequest, AVContentKeyResponse, AVContentKey, AVContentKeySpecifier, AVAssetResourceLoader, AVAssetResourceLoadingRequest, AVAssetResourceRenewalRequest, AVAssetDownloadTask, AVAggregateAssetDownloadTask, AVMediaSelection, AVAssetResourceLoadingContentInformationRequest, AVAssetResourceLoadingDataRequest, AVAssetResourceLoadingRequestor, AVAssetCache;
@protocol AVContentKeySessionDelegate, AVContentKeyRecipient, AVAssetResourceLoaderDelegate;
extern NSString * const AVFoundationErrorDomain;
typedef NSString *AVContentKeySystem NS_TYPED_ENUM;
extern AVContentKeySystem const AVContentKeySystemFairPlayStreaming AV_A;
extern AVContentKeySystem const AVContentKeySystemClearKey AV_B;
extern AVContentKeySystem const AVContentKeySystemAuthorizationToken AV_D;
typedef NSString *AVContentKeyRequestRetryReason NS_TYPED_ENUM __attribute__((swift_name("AVContentKeyRequest.RetryReason")));
extern AVContentKeyRequestRetryReason const AVContentKeyRequestRetryReasonTimedOut AV_A;
extern AVContentKeyRequestRetryReason const AVContentKeyRequestRetryReasonReceivedResponseWithExpiredLease AV_A;
extern AVContentKeyRequestRetryReason const AVContentKeyRequestRetryReasonReceivedObsoleteContentKey AV_A;
NS_SWIFT_SENDABLE AV_A
@interface AVContentKeySession : NSObject
- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)new NS_UNAVAILABLE;
+ (instancetype)contentKeySessionWithKeySystem:(AVContentKeySystem)keySystem AV_B;
+ (instancetype)contentKeySessionWithKeySystem:(AVContentKeySystem)keySystem storageDirectoryAtURL:(NSURL *)storageURL;
- (void)setDelegate:(nullable id<AVContentKeySessionDelegate>)delegate queue:(nullable dispatch_queue_t)delegateQueue;
@property (readonly, weak, nullable) id<AVContentKeySessionDelegate> delegate;
@property (readonly, nullable) dispatch_queue_t delegateQueue;
@property (readonly, nullable) NSURL *storageURL;
@property (readonly) AVContentKeySystem keySystem;
- (void)expire;
@property (readonly, nullable) NSData *contentProtectionSessionIdentifier;
- (void)processContentKeyRequestWithIdentifier:(nullable id NS_SWIFT_SENDABLE)identifier initializationData:(nullable NSData *)initializationData options:(nullable NSDictionary<NSString *, id NS_SWIFT_SENDABLE> *)options;
- (void)renewExpiringResponseDataForContentKeyRequest:(AVContentKeyRequest *)contentKeyRequest;
@end
@interface AVContentKeySession (AVContentKeyRecipients)
- (void)addContentKeyRecipient:(id<AVContentKeyRecipient>)recipient;
- (void)removeContentKeyRecipient:(id<AVContentKeyRecipient>)recipient;
@property (readonly) NSArray<id<AVContentKeyRecipient>> *contentKeyRecipients;
@end
#define AV_G IN(ios,12.2) IN(macos,10.15) IN(tvos,17.0) IN(watchos,7.0) IN(visionos,1.0)
typedef NSString *AVContentKeySessionServerPlaybackContextOption NS_TYPED_ENUM;
extern AVContentKeySessionServerPlaybackContextOption const AVContentKeySessionServerPlaybackContextOptionProtocolVersions AV_G;
extern AVContentKeySessionServerPlaybackContextOption const AVContentKeySessionServerPlaybackContextOptionServerChallenge AV_G;
@interface AVContentKeySession (StoredKeys)
- (void)makeSecureTokenForExpirationDateOfPersistableContentKey:(NSData *)persistableContentKeyData completionHandler:(void (NS_SWIFT_SENDABLE ^)(NSData * _Nullable, NSError * _Nullable))handler AV_F;
- (void)invalidatePersistableContentKey:(NSData *)persistableContentKeyData options:(nullable NSDictionary<AVContentKeySessionServerPlaybackContextOption, id> *)options completionHandler:(void (NS_SWIFT_SENDABLE ^)(NSData * _Nullable, NSError * _Nullable))handler AV_G;
- (void)invalidateAllPersistableContentKeysForApp:(NSData *)appIdentifier options:(nullable NSDictionary<AVContentKeySessionServerPlaybackContextOption, id> *)options completionHandler:(void (NS_SWIFT_SENDABLE ^)(NSData * _Nullable, NSError * _Nullable))handler AV_G;
@end
@interface AVContentKeySession (AVContentKeySessionPendingExpiredSessionReports)
+ (NSArray<NSData *> *)pendingExpiredSessionReportsWithAppIdentifier:(NSData *)appIdentifier storageDirectoryAtURL:(NSURL *)storageURL;
+ (void)removePendingExpiredSessionReports:(NSArray<NSData *> *)expiredSessionReports withAppIdentifier:(NSData *)appIdentifier storageDirectoryAtURL:(NSURL *)storageURL;
@end
NS_SWIFT_SENDABLE AV_A
@protocol AVContentKeySessionDelegate <NSObject>
- (void)contentKeySession:(AVContentKeySession *)session didProvideContentKeyRequest:(AVContentKeyRequest *)keyRequest;
@optional
- (void)contentKeySession:(AVContentKeySession *)session didProvideRenewingContentKeyRequest:(AVContentKeyRequest *)keyRequest;
- (void)contentKeySession:(AVContentKeySession *)session didProvidePersistableContentKeyRequest:(AVPersistableContentKeyRequest *)keyRequest;
- (void)contentKeySession:(AVContentKeySession *)session didUpdatePersistableContentKey:(NSData *)persistableContentKey forContentKeyIdentifier:(id)keyIdentifier AV_F;
- (void)contentKeySession:(AVContentKeySession *)session contentKeyRequest:(AVContentKeyRequest *)keyRequest didFailWithError:(NSError *)err;
- (BOOL)contentKeySession:(AVContentKeySession *)session shouldRetryContentKeyRequest:(AVContentKeyRequest *)keyRequest reason:(AVContentKeyRequestRetryReason)retryReason;
- (void)contentKeySession:(AVContentKeySession *)session contentKeyRequestDidSucceed:(AVContentKeyRequest *)keyRequest AV_C;
- (void)contentKeySessionContentProtectionSessionIdentifierDidChange:(AVContentKeySession *)session;
- (void)contentKeySessionDidGenerateExpiredSessionReport:(AVContentKeySession *)session AV_C;
- (void)contentKeySession:(AVContentKeySession *)session externalProtectionStatusDidChangeForContentKey:(AVContentKey *)contentKey AV_H;
- (void)contentKeySession:(AVContentKeySession *)session didProvideContentKeyRequests:(NSArray<AVContentKeyRequest *> *)keyRequests forInitializationData:(nullable NSData *)initializationData AV_HB;
@end
typedef NS_ENUM(NSInteger, AVContentKeyRequestStatus) {
  AVContentKeyRequestStatusRequestingResponse, AVContentKeyRequestStatusReceivedResponse, AVContentKeyRequestStatusRenewed,
  AVContentKeyRequestStatusRetried, AVContentKeyRequestStatusCancelled, AVContentKeyRequestStatusFailed
} __attribute__((swift_name("AVContentKeyRequest.Status")));
NS_SWIFT_SENDABLE AV_A
@interface AVContentKeyRequest : NSObject
@property (readonly) AVContentKeyRequestStatus status;
@property (readonly, nullable) NSError *error;
@property (readonly, nullable) id NS_SWIFT_SENDABLE identifier;
@property (readonly, nullable) NSData *initializationData;
@property (readonly) BOOL canProvidePersistableContentKey;
@property (readonly) AVContentKeySpecifier *contentKeySpecifier AV_E;
@property (readonly, nullable) AVContentKey *contentKey AV_E;
@property (nullable, readonly, weak) id<AVContentKeyRecipient> originatingRecipient AV_26;
- (void)makeStreamingContentKeyRequestDataForApp:(NSData *)appIdentifier contentIdentifier:(nullable NSData *)contentIdentifier options:(nullable NSDictionary<NSString *, id> *)options completionHandler:(void (NS_SWIFT_SENDABLE ^)(NSData * _Nullable contentKeyRequestData, NSError * _Nullable error))handler;
- (void)processContentKeyResponse:(AVContentKeyResponse *)keyResponse;
- (void)processContentKeyResponseError:(NSError *)error;
- (void)respondByRequestingPersistableContentKeyRequest DEP(ios,10.3,11.2) NOT(macos) NOT(tvos) NOT(watchos) NOT(visionos);
- (BOOL)respondByRequestingPersistableContentKeyRequestAndReturnError:(NSError **)outError IN(ios,11.2) IN(macos,10.15) IN(tvos,17.0) IN(watchos,7.0) IN(visionos,1.0);
@end
// Advisory keys. Source: Apple's page of each symbol, read 27 November 2026.
@interface AVContentKeySession (AdvisoryKeys)
@property BOOL supportsAdvisoryKeys AV_27;
@end
@interface AVContentKeyRequest (AdvisoryKeys)
@property (readonly) BOOL canBeFulfilledWithAdvisoryKey AV_27;
- (void)makeOptionalStreamingContentKeyRequestDataForApp:(NSData *)appIdentifier contentIdentifier:(nullable NSData *)contentIdentifier options:(nullable NSDictionary<NSString *, id> *)options completionHandler:(void (^)(NSData * _Nullable data, NSError * _Nullable error))handler AV_27;
@end
@interface AVContentKeyRequest (AVContentKeyRequestRenewal)
@property (readonly) BOOL renewsExpiringResponseData;
@end
NS_SWIFT_SENDABLE IN(ios,10.3) IN(macos,10.15) IN(tvos,10.2) IN(watchos,7.0) IN(visionos,1.0)
@interface AVPersistableContentKeyRequest : AVContentKeyRequest
- (nullable NSData *)persistableContentKeyFromKeyVendorResponse:(NSData *)keyVendorResponse options:(nullable NSDictionary<NSString *, id> *)options error:(NSError **)outError;
@end
NS_SWIFT_SENDABLE AV_A
@interface AVContentKeyResponse : NSObject
+ (instancetype)contentKeyResponseWithFairPlayStreamingKeyResponseData:(NSData *)keyResponseData;
+ (instancetype)contentKeyResponseWithClearKeyData:(NSData *)keyData initializationVector:(nullable NSData *)initializationVector AV_B;
+ (instancetype)contentKeyResponseWithAuthorizationTokenData:(NSData *)authorizationTokenData AV_D;
@end
NS_SWIFT_SENDABLE AV_E
@interface AVContentKeySpecifier : NSObject
- (instancetype)initForKeySystem:(AVContentKeySystem)keySystem identifier:(id)contentKeyIdentifier options:(NSDictionary<NSString *, id> *)options;
@property (readonly) AVContentKeySystem keySystem;
@property (readonly) id NS_SWIFT_SENDABLE identifier;
@end
typedef NS_ENUM(NSInteger, AVExternalContentProtectionStatus) { AVExternalContentProtectionStatusPending, AVExternalContentProtectionStatusSufficient, AVExternalContentProtectionStatusInsufficient } AV_H;
NS_SWIFT_SENDABLE AV_E
@interface AVContentKey : NSObject
@property (readonly) AVContentKeySpecifier *contentKeySpecifier;
@property (readonly) AVExternalContentProtectionStatus externalContentProtectionStatus AV_H;
- (void)revoke AV_HB;
@end
AV_A
@protocol AVContentKeyRecipient
@required
@property (readonly) BOOL mayRequireContentKeysForMediaDataProcessing;
@optional
- (void)contentKeySession:(AVContentKeySession *)contentKeySession didProvideContentKey:(AVContentKey *)contentKey AV_E;
@end
extern NSString * const AVContentKeyRequestProtocolVersionsKey AV_A;
extern NSString * const AVContentKeyRequestShouldRandomizeDeviceIdentifierKey AV_26;
extern NSString * const AVContentKeyRequestRandomDeviceIdentifierSeedKey AV_26;

IN(ios,4.0) IN(macos,10.7) IN(tvos,9.0) IN(watchos,1.0) IN(visionos,1.0)
@interface AVAsset : NSObject
@end
NS_SWIFT_SENDABLE IN(ios,4.0) IN(macos,10.7) IN(tvos,9.0) IN(watchos,1.0) IN(visionos,1.0)
@interface AVURLAsset : AVAsset
- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)new NS_UNAVAILABLE;
- (instancetype)initWithURL:(NSURL *)URL options:(nullable NSDictionary<NSString *, id> *)options NS_DESIGNATED_INITIALIZER;
@property (nonatomic, readonly, copy) NSURL *URL;
// Apple's page of each symbol and objc2-av-foundation, read 28 November 2026.
@property (nonatomic, readonly) NSUUID *httpSessionIdentifier IN(ios,16.0) IN(macos,13.0) IN(tvos,16.0) IN(watchos,9.0) IN(visionos,1.0);
@end
extern NSString * const AVURLAssetPrimarySessionIdentifierKey IN(ios,16.0) IN(macos,13.0) IN(tvos,16.0) IN(watchos,9.0) IN(visionos,1.0);
@interface AVURLAsset (AVURLAssetURLHandling)
@property (nonatomic, readonly) AVAssetResourceLoader *resourceLoader AV_RL;
@end
@interface AVURLAsset (AVURLAssetContentKeyEligibility) <AVContentKeyRecipient>
@property (nonatomic, readonly) BOOL mayRequireContentKeysForMediaDataProcessing AV_A;
@end

AV_RL
@interface AVAssetResourceLoader : NSObject
- (instancetype)init NS_UNAVAILABLE;
- (void)setDelegate:(nullable id<AVAssetResourceLoaderDelegate>)delegate queue:(nullable dispatch_queue_t)delegateQueue;
@property (nonatomic, readonly, weak, nullable) id<AVAssetResourceLoaderDelegate> delegate;
@property (nonatomic, readonly, nullable) dispatch_queue_t delegateQueue;
@end
@interface AVAssetResourceLoader (AVAssetResourceLoaderContentKeySupport)
@property (nonatomic) BOOL preloadsEligibleContentKeys IN(ios,9.0) IN(macos,10.11) IN(tvos,9.0) NOT(watchos) IN(visionos,1.0);
@end
AV_RL
@protocol AVAssetResourceLoaderDelegate <NSObject>
@optional
- (BOOL)resourceLoader:(AVAssetResourceLoader *)resourceLoader shouldWaitForLoadingOfRequestedResource:(AVAssetResourceLoadingRequest *)loadingRequest;
- (BOOL)resourceLoader:(AVAssetResourceLoader *)resourceLoader shouldWaitForRenewalOfRequestedResource:(AVAssetResourceRenewalRequest *)renewalRequest IN(ios,8.0) IN(macos,10.10) IN(tvos,9.0) NOT(watchos) IN(visionos,1.0);
- (void)resourceLoader:(AVAssetResourceLoader *)resourceLoader didCancelLoadingRequest:(AVAssetResourceLoadingRequest *)loadingRequest IN(ios,7.0) IN(macos,10.9) IN(tvos,9.0) NOT(watchos) IN(visionos,1.0);
- (BOOL)resourceLoader:(AVAssetResourceLoader *)resourceLoader shouldWaitForResponseToAuthenticationChallenge:(NSURLAuthenticationChallenge *)authenticationChallenge;
- (void)resourceLoader:(AVAssetResourceLoader *)resourceLoader didCancelAuthenticationChallenge:(NSURLAuthenticationChallenge *)authenticationChallenge;
@end
AV_RL
@interface AVAssetResourceLoadingRequest : NSObject
- (instancetype)init NS_UNAVAILABLE;
@property (nonatomic, readonly) NSURLRequest *request;
@property (nonatomic, readonly, getter=isFinished) BOOL finished;
@property (nonatomic, readonly, getter=isCancelled) BOOL cancelled IN(ios,7.0) IN(macos,10.9) IN(tvos,9.0) NOT(watchos) IN(visionos,1.0);
@property (nonatomic, readonly, nullable) AVAssetResourceLoadingContentInformationRequest *contentInformationRequest;
@property (nonatomic, readonly, nullable) AVAssetResourceLoadingDataRequest *dataRequest;
@property (nonatomic, copy, nullable) NSURLResponse *response;
@property (nonatomic, copy, nullable) NSURLRequest *redirect;
@property (nonatomic, readonly) AVAssetResourceLoadingRequestor *requestor;
- (void)finishLoading;
- (void)finishLoadingWithError:(nullable NSError *)error NS_SWIFT_NAME(finishLoading(with:));
@end
AV_RL
@interface AVAssetResourceRenewalRequest : AVAssetResourceLoadingRequest
@end
AV_RL
@interface AVAssetResourceLoadingContentInformationRequest : NSObject
@property (nonatomic, copy, nullable) NSString *contentType;
@property (nonatomic, readonly, nullable) NSArray<NSString *> *allowedContentTypes;
@property (nonatomic) long long contentLength;
@property (nonatomic, getter=isByteRangeAccessSupported) BOOL byteRangeAccessSupported;
@property (nonatomic, copy, nullable) NSDate *renewalDate;
@end
AV_RL
@interface AVAssetResourceLoadingDataRequest : NSObject
- (void)respondWithData:(NSData *)data;
@end
@interface AVAssetResourceLoadingRequest (AVAssetResourceLoadingRequestContentKeyRequestSupport)
- (nullable NSData *)streamingContentKeyRequestDataForApp:(NSData *)appIdentifier contentIdentifier:(NSData *)contentIdentifier options:(nullable NSDictionary<NSString *, id> *)options error:(NSError **)outError DEP(ios,7.0,18.0) DEP(macos,10.9,15.0) DEP(tvos,9.0,18.0) NOT(watchos) DEP(visionos,1.0,2.0);
- (nullable NSData *)persistentContentKeyFromKeyVendorResponse:(NSData *)keyVendorResponse options:(nullable NSDictionary<NSString *, id> *)options error:(NSError **)outError DEP(ios,9.0,18.0) DEP(macos,10.15,15.0) DEP(tvos,9.0,18.0) NOT(watchos) DEP(visionos,1.0,2.0);
@end
extern NSString * const AVAssetResourceLoadingRequestStreamingContentKeyRequestRequiresPersistentKey DEP(ios,9.0,18.0) DEP(macos,10.14,15.0) DEP(tvos,9.0,18.0) NOT(watchos) DEP(visionos,1.0,2.0);
extern NSString * const AVStreamingKeyDeliveryContentKeyType IN(ios,9.0) IN(macos,10.11) IN(tvos,9.0) NOT(watchos) IN(visionos,1.0);
extern NSString * const AVStreamingKeyDeliveryPersistentContentKeyType IN(ios,9.0) IN(macos,10.14) IN(tvos,9.0) NOT(watchos) IN(visionos,1.0);

typedef NS_ERROR_ENUM(AVFoundationErrorDomain, AVError) {
  AVErrorUnknown = -11800, AVErrorMediaServicesWereReset = -11819, AVErrorContentIsUnavailable = -11863,
  AVErrorOperationCancelled IN(ios,15.0) IN(macos,12.0) IN(tvos,15.0) = -11878,
  AVErrorContentKeyRequestCancelled IN(ios,14.6) IN(macos,11.4) IN(tvos,14.6) = -11879,
};
NS_SWIFT_UI_ACTOR
@interface AVPlayerItem : NSObject
+ (instancetype)playerItemWithAsset:(AVAsset *)asset;
@property (nonatomic, readonly) AVAsset *asset;
@end
NS_SWIFT_UI_ACTOR
@interface AVPlayer : NSObject
- (instancetype)init NS_SWIFT_NONISOLATED;
- (instancetype)initWithURL:(NSURL *)URL NS_SWIFT_NONISOLATED;
- (instancetype)initWithPlayerItem:(nullable AVPlayerItem *)item NS_SWIFT_NONISOLATED;
- (void)pause;
@property (readonly, nullable) AVPlayerItem *currentItem NS_SWIFT_NONISOLATED;
- (void)replaceCurrentItemWithPlayerItem:(nullable AVPlayerItem *)item;
- (void)play;
@end
NS_SWIFT_UI_ACTOR
@interface AVQueuePlayer : AVPlayer
@end
// Interstitials. Source: Apple's page of each symbol and objc2-av-foundation, read 27 and 28 November 2026.
AV_IE
@interface AVPlayerInterstitialEvent : NSObject
@property (nonatomic, readonly, weak, nullable) AVPlayerItem *primaryItem;
@property (nonatomic, readonly) NSString *identifier;
@property (nonatomic, copy) NSArray<AVPlayerItem *> *templateItems;
+ (instancetype)interstitialEventWithPrimaryItem:(AVPlayerItem *)primaryItem time:(CMTime)time;
@end
AV_IE
@interface AVPlayerInterstitialEventMonitor : NSObject
- (instancetype)initWithPrimaryPlayer:(AVPlayer *)primaryPlayer;
@property (nonatomic, readonly, weak, nullable) AVPlayer *primaryPlayer;
@property (readonly) NSArray<AVPlayerInterstitialEvent *> *events;
@property (nonatomic, readonly) AVQueuePlayer *interstitialPlayer;
@end
AV_IE
@interface AVPlayerInterstitialEventController : AVPlayerInterstitialEventMonitor
- (instancetype)initWithPrimaryPlayer:(AVPlayer *)primaryPlayer;
@property (nonatomic, copy, null_resettable) NSArray<AVPlayerInterstitialEvent *> *events;
@end
extern NSNotificationName const AVPlayerInterstitialEventMonitorEventsDidChangeNotification __attribute__((swift_name("AVPlayerInterstitialEventMonitor.eventsDidChangeNotification"))) AV_IE;
extern NSNotificationName const AVPlayerInterstitialEventMonitorAssetListResponseStatusDidChangeNotification __attribute__((swift_name("AVPlayerInterstitialEventMonitor.assetListResponseStatusDidChangeNotification"))) IN(ios,16.4) IN(macos,13.3) IN(tvos,16.4) IN(watchos,9.4) IN(visionos,1.0);
// What the acceptance app looks at. Source: objc2-av-foundation and Apple's page of each symbol, read 27 November 2026.
typedef NS_ENUM(NSInteger, AVPlayerItemStatus) { AVPlayerItemStatusUnknown, AVPlayerItemStatusReadyToPlay, AVPlayerItemStatusFailed } __attribute__((swift_name("AVPlayerItem.Status")));
@interface AVPlayerItem (Observing)
@property (nonatomic, readonly) AVPlayerItemStatus status NS_SWIFT_NONISOLATED;
@property (nonatomic, readonly, nullable) NSError *error NS_SWIFT_NONISOLATED;
@end
@interface AVPlayer (Observing)
- (CMTime)currentTime NS_SWIFT_NONISOLATED;
@end
// What `ProtectedPlayback` and the examples use. Source: Apple's page of each symbol and objc2-av-foundation, read 28 November 2026.
typedef NS_ENUM(NSInteger, AVPlayerStatus) { AVPlayerStatusUnknown, AVPlayerStatusReadyToPlay, AVPlayerStatusFailed } __attribute__((swift_name("AVPlayer.Status")));
@interface AVPlayer (Playback)
@property (nonatomic, readonly) AVPlayerStatus status NS_SWIFT_NONISOLATED;
@property (nonatomic, readonly, nullable) NSError *error NS_SWIFT_NONISOLATED;
@property (nonatomic, readonly) BOOL outputObscuredDueToInsufficientExternalProtection __attribute__((swift_name("isOutputObscuredDueToInsufficientExternalProtection"))) NS_SWIFT_NONISOLATED IN(ios,6.0) IN(macos,10.12) IN(tvos,9.0) NOT(watchos) IN(visionos,1.0);
@property (nonatomic, readonly, getter=isExternalPlaybackActive) BOOL externalPlaybackActive NS_SWIFT_NONISOLATED IN(ios,6.0) IN(macos,10.11) IN(tvos,9.0) NOT(watchos) IN(visionos,1.0);
- (void)seekToTime:(CMTime)time NS_SWIFT_NONISOLATED;
@end
@interface AVPlayerItem (Playback)
@property (nonatomic, readonly) CMTime duration NS_SWIFT_NONISOLATED;
@end
IN(ios,3.0) NOT(macos) IN(tvos,9.0) IN(watchos,2.0) IN(visionos,1.0)
@interface AVAudioSession : NSObject
+ (AVAudioSession *)sharedInstance;
@end
extern NSNotificationName const AVAudioSessionMediaServicesWereResetNotification __attribute__((swift_name("AVAudioSession.mediaServicesWereResetNotification"))) IN(ios,6.0) NOT(macos) IN(tvos,9.0) IN(watchos,2.0) IN(visionos,1.0);
#ifdef AUDITED
NS_AUDITED_END
#else
#pragma clang assume_nonnull end
#endif
#import <AVFoundation/Downloads.h>
