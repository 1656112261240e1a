// Own text. Source: Google's reference of IMA for iOS and tvOS, page `IMAAVPlayerVideoDisplayDelegate`, read 22 November 2026.
#import <AVFoundation/AVFoundation.h>
#pragma clang assume_nonnull begin
@interface IMAAVPlayerVideoDisplay : NSObject
@end
@protocol IMAAVPlayerVideoDisplayDelegate <NSObject>
@optional
- (void)playerVideoDisplay:(IMAAVPlayerVideoDisplay *)playerVideoDisplay willLoadStreamAsset:(AVURLAsset *)URLAsset;
- (void)playerVideoDisplay:(IMAAVPlayerVideoDisplay *)playerVideoDisplay didLoadPlayerItem:(AVPlayerItem *)playerItem;
@end
#pragma clang assume_nonnull end
