// Own text. Source: the vendor's reference pages, as `Documentation/Players.md` cites them; first written 22 November 2026. Nullability is inferred.
#import <AVFoundation/AVFoundation.h>
@protocol PTAVAssetResourceLoaderDelegate <NSObject>
- (BOOL)resourceLoader:(AVAssetResourceLoader *)resourceLoader shouldWaitForLoadingOfRequestedResource:(AVAssetResourceLoadingRequest *)loadingRequest;
@end
@interface PTDefaultMediaPlayerClientFactory : NSObject
+ (PTDefaultMediaPlayerClientFactory *)defaultFactory;
- (void)registerPTAVAssetResourceLoader:(id<PTAVAssetResourceLoaderDelegate>)loader;
@end
