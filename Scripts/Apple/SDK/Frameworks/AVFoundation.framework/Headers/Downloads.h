// Own text: downloads, and the choice of what to download. Imported by AVFoundation.h.
// Source: Apple's page of each symbol, objc2-av-foundation, and copies of the headers of the SDKs 12 and 27 in public repositories; read 27 November 2026.
#pragma once
#pragma clang assume_nonnull begin
#define AV_DC IN(ios,15.0) IN(macos,12.0) IN(tvos,15.0) IN(watchos,10.0) IN(visionos,1.0)
@class AVMediaSelectionGroup, AVMediaSelectionOption, NSPredicate;
typedef NSString *AVMediaCharacteristic NS_TYPED_EXTENSIBLE_ENUM;
extern AVMediaCharacteristic const AVMediaCharacteristicAudible;
extern AVMediaCharacteristic const AVMediaCharacteristicLegible;
IN(ios,9.0) IN(macos,10.11) IN(tvos,9.0) IN(watchos,2.0) IN(visionos,1.0)
@interface AVMediaSelection : NSObject <NSCopying>
- (nullable AVMediaSelectionOption *)selectedMediaOptionInMediaSelectionGroup:(AVMediaSelectionGroup *)mediaSelectionGroup NS_SWIFT_NAME(selectedMediaOption(in:));
- (id)mutableCopy;
@end
IN(ios,9.0) IN(macos,10.11) IN(tvos,9.0) IN(watchos,2.0) IN(visionos,1.0)
@interface AVMutableMediaSelection : AVMediaSelection
- (void)selectMediaOption:(nullable AVMediaSelectionOption *)mediaSelectionOption inMediaSelectionGroup:(AVMediaSelectionGroup *)mediaSelectionGroup NS_SWIFT_NAME(select(_:in:));
@end
IN(ios,5.0) IN(macos,10.8) IN(tvos,9.0) IN(watchos,1.0) IN(visionos,1.0)
@interface AVMediaSelectionGroup : NSObject <NSCopying>
@property (nonatomic, readonly) NSArray<AVMediaSelectionOption *> *options;
@end
IN(ios,5.0) IN(macos,10.8) IN(tvos,9.0) IN(watchos,1.0) IN(visionos,1.0)
@interface AVMediaSelectionOption : NSObject <NSCopying>
@property (nonatomic, readonly) NSString *displayName;
@property (nonatomic, readonly, nullable) NSString *extendedLanguageTag;
@end
@interface AVAsset (MediaSelection)
- (void)loadMediaSelectionGroupForMediaCharacteristic:(AVMediaCharacteristic)mediaCharacteristic completionHandler:(void (NS_SWIFT_SENDABLE ^)(AVMediaSelectionGroup * _Nullable_result, NSError * _Nullable))completionHandler NS_SWIFT_NAME(loadMediaSelectionGroup(for:completionHandler:)) IN(ios,15.0) IN(macos,12.0) IN(tvos,15.0) IN(watchos,8.0) IN(visionos,1.0);
@end
extern NSString * const AVURLAssetHTTPCookiesKey IN(ios,8.0) IN(macos,10.15) IN(tvos,9.0) IN(watchos,2.0) IN(visionos,1.0);
extern NSString * const AVURLAssetAllowsCellularAccessKey IN(ios,10.0) IN(macos,10.15) IN(tvos,10.0) IN(watchos,3.0) IN(visionos,1.0);
NS_SWIFT_SENDABLE AV_DC
@interface AVAssetVariantQualifier : NSObject <NSCopying>
- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)assetVariantQualifierWithPredicate:(NSPredicate *)predicate;
+ (NSPredicate *)predicateForPresentationHeight:(CGFloat)height operatorType:(NSPredicateOperatorType)operatorType NS_SWIFT_NAME(predicate(forPresentationHeight:operatorType:));
@end
AV_DC
@interface AVAssetDownloadContentConfiguration : NSObject <NSCopying>
@property (nonatomic, copy) NSArray<AVAssetVariantQualifier *> *variantQualifiers;
@property (nonatomic, copy) NSArray<AVMediaSelection *> *mediaSelections;
@end
AV_DC
@interface AVAssetDownloadConfiguration : NSObject
- (instancetype)init NS_UNAVAILABLE;
+ (instancetype)downloadConfigurationWithAsset:(AVURLAsset *)asset title:(NSString *)title;
@property (copy, nullable, nonatomic) NSData *artworkData;
@property (nonatomic, readonly) AVAssetDownloadContentConfiguration *primaryContentConfiguration;
@property (nonatomic, copy) NSArray<AVAssetDownloadContentConfiguration *> *auxiliaryContentConfigurations;
@property (nonatomic) BOOL optimizesAuxiliaryContentConfigurations;
@property (nonatomic) BOOL downloadsInterstitialAssets IN(ios,18.0) IN(macos,15.0) NOT(tvos) IN(watchos,11.0) IN(visionos,2.0);
@end
AV_DL
@interface AVAssetDownloadTask : NSURLSessionTask
@property (nonatomic, readonly) AVURLAsset *URLAsset;
@end
DEP(ios,11.0,27.0) DEP(macos,10.15,27.0) DEP(visionos,1.0,27.0) NOT(tvos) NOT(watchos)
@interface AVAggregateAssetDownloadTask : NSURLSessionTask
@end
NS_SWIFT_SENDABLE AV_DL
@protocol AVAssetDownloadDelegate <NSURLSessionTaskDelegate>
@optional
- (void)URLSession:(NSURLSession *)session assetDownloadTask:(AVAssetDownloadTask *)assetDownloadTask willDownloadToURL:(NSURL *)location IN(ios,18.0) IN(macos,14.0) NOT(tvos) IN(watchos,10.0) IN(visionos,1.0);
- (void)URLSession:(NSURLSession *)session assetDownloadTask:(AVAssetDownloadTask *)assetDownloadTask didFinishDownloadingToURL:(NSURL *)location DEP(ios,10.0,27.0) DEP(macos,10.15,27.0) NOT(tvos) DEP(watchos,10.0,27.0) DEP(visionos,1.0,27.0);
- (void)URLSession:(NSURLSession *)session assetDownloadTask:(AVAssetDownloadTask *)assetDownloadTask didLoadTimeRange:(CMTimeRange)timeRange totalTimeRangesLoaded:(NSArray<NSValue *> *)loadedTimeRanges timeRangeExpectedToLoad:(CMTimeRange)timeRangeExpectedToLoad DEP(ios,9.0,27.0) DEP(macos,10.15,27.0) NOT(tvos) NOT(watchos) DEP(visionos,1.0,27.0);
@end
AV_DL
@interface AVAssetDownloadURLSession : NSURLSession
+ (AVAssetDownloadURLSession *)sessionWithConfiguration:(NSURLSessionConfiguration *)configuration assetDownloadDelegate:(nullable id <AVAssetDownloadDelegate>)delegate delegateQueue:(nullable NSOperationQueue *)delegateQueue;
+ (NSURLSession *)sessionWithConfiguration:(NSURLSessionConfiguration *)configuration NS_UNAVAILABLE;
- (AVAssetDownloadTask *)assetDownloadTaskWithConfiguration:(AVAssetDownloadConfiguration *)downloadConfiguration NS_SWIFT_NAME(makeAssetDownloadTask(downloadConfiguration:)) IN(ios,15.0) IN(macos,12.0) NOT(tvos) IN(watchos,10.0) IN(visionos,1.0);
@end
#pragma clang assume_nonnull end
