// Own text. Source: the vendor's reference pages, as `Documentation/Players.md` cites them; first written 22 November 2026. Nullability is inferred.
#import <AVFoundation/AVFoundation.h>
@protocol PTAVAssetResourceLoaderDelegate <NSObject>
- (BOOL)resourceLoader:(AVAssetResourceLoader *)resourceLoader shouldWaitForLoadingOfRequestedResource:(AVAssetResourceLoadingRequest *)loadingRequest;
@end
@interface PTDefaultMediaPlayerClientFactory : NSObject
+ (PTDefaultMediaPlayerClientFactory *)defaultFactory;
- (void)registerPTAVAssetResourceLoader:(id<PTAVAssetResourceLoaderDelegate>)loader;
@end
// Source: the document of ExpressPlay for TVSDK (S4) and Adobe's reference of TVSDK 3 for iOS; read 27 November 2026. Nullability is inferred: there is none.
@interface PTMetadata : NSObject
@end
@interface PTMediaPlayerItem : NSObject
- (instancetype)initWithUrl:(NSURL *)url mediaId:(NSString *)mediaId metadata:(PTMetadata *)metadata;
@end
@interface PTMediaPlayer : NSObject
+ (PTMediaPlayer *)playerWithMediaPlayerItem:(PTMediaPlayerItem *)mediaPlayerItem;
- (void)play;
- (void)pause;
- (void)replaceCurrentItemWithPlayerItem:(PTMediaPlayerItem *)item;
@end
