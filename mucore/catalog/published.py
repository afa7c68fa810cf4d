"""Published data sets that are fetched: by torchvision, or by hand into a folder. mucore/datasets
reads them.
"""

from __future__ import annotations

from typing import Any

from mucore.catalog.cards import DatasetCard

DATA_FOLDER = "the data folder (MUCORE_DATA, or ~/.mucore/data)"


def _divided(images: int) -> tuple[int, int, int]:
    """About how many of a set without a division are for training, validation and test."""
    test = round(images / 5)
    validation = round((images - test) / 10)
    return images - test - validation, validation, test


_CIFAR100 = (
    "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus "
    "butterfly camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch "
    "crab crocodile cup dinosaur dolphin elephant flatfish forest fox girl hamster house kangaroo "
    "keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle mountain "
    "mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain "
    "plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk "
    "skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone "
    "television tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm"
)
_TINY_WHERE = (
    "Fetch tiny-imagenet-200.zip (237 MB) from cs231n.stanford.edu/tiny-imagenet-200.zip and "
    f"unpack it in {DATA_FOLDER}: it becomes tiny-imagenet-200 with train/WNID/images, val/images, "
    "val/val_annotations.txt and words.txt."
)
_TINY: dict[str, Any] = {
    "loader": "folders:tiny_imagenet",
    "source": (
        "Le and Yang, Tiny ImageNet Visual Recognition Challenge, Stanford CS231n, 2015; its "
        "validation images are the test set"
    ),
    "licence": "As ImageNet: research and education, not commercial",
    "shape": (3, 64, 64),
    "balanced": True,
    "augmentation": True,
    "where": _TINY_WHERE,
}
_HOME: dict[str, Any] = {
    "loader": "folders:office_home",
    "source": "Venkateswara et al., Deep Hashing Network for Unsupervised Domain Adaptation, CVPR "
    "2017",
    "licence": "Research and education, not commercial",
    "classes": 65,
    "streamed": True,
    "shape": (3, 224, 224),
    "augmentation": True,
    "where": (
        "Fetch Office-Home (1.1 GB) from www.hemanthdv.org/officeHomeDataset.html and unpack it in "
        f"{DATA_FOLDER}: it becomes OfficeHomeDataset_10072016 with the folders Art, Clipart, "
        "Product and Real World, each with a folder a class."
    ),
}
_DOMAINNET: dict[str, Any] = {
    "loader": "folders:domainnet",
    "source": (
        "Peng et al., Moment Matching for Multi-Source Domain Adaptation, ICCV 2019; the 126 "
        "classes of Saito et al. (MME), ICCV 2019, as Chen et al. (AdaContrast), CVPR 2022, list "
        "them"
    ),
    "licence": "Research, not commercial",
    "classes": 126,
    "streamed": True,
    "shape": (3, 224, 224),
    "augmentation": True,
    "where": (
        "Fetch the cleaned version of real, clipart, painting and sketch from ai.bu.edu/M3SDA and "
        "the four list files of datasets/domainnet-126 from github.com/DianCh/AdaContrast. Put all "
        f"into domainnet-126 of {DATA_FOLDER}: real/CLASS/*.jpg and real_list.txt, and so on."
    ),
}

_MUCAC = DatasetCard(
    id="mucac",
    loader="people:mucac",
    title="MUCAC, attributes of celebrities",
    source="Choi and Na, Towards Machine Unlearning Benchmarks, 2023, from CelebA-HQ (Karras et "
    "al., ICLR 2018, and Lee et al., CVPR 2020): 30,000 images of 6,217 persons; below number 190 "
    "for testing, from 4855 on unseen, the others for training, as in the authors' code",
    licence="As CelebA: research, not commercial",
    classes=3,
    shape=(3, 128, 128),
    about=(23_000, 2_600, 2_000),  # whole persons are held out for validation
    augmentation=True,
    where=(
        "Fetch CelebAMask-HQ from github.com/switchablenorms/CelebAMask-HQ, and "
        "CelebA-HQ-identity.txt and CelebA-HQ-attribute.txt, to which "
        "github.com/ndb796/CelebA-HQ-Face-Identity-and-Attributes-Recognition-PyTorch leads. Put "
        f"all into CelebAMask-HQ of {DATA_FOLDER}: CelebA-HQ-img/*.jpg beside the two text files."
    ),
    class_names=("male", "young", "smiling"),
    task="attributes",
    identities=True,
)

PUBLISHED: tuple[DatasetCard, ...] = (
    DatasetCard(
        id="cifar100",
        loader="torchvision_sets:cifar",
        title="CIFAR-100",
        source="Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009; the fine "
        "labels",
        licence="None stated by the authors; free for research",
        classes=100,
        shape=(3, 32, 32),
        sizes=(45_000, 5_000, 10_000),
        balanced=True,
        augmentation=True,
        where=(
            "Fetch cifar-100-python.tar.gz (169 MB) from www.cs.toronto.edu/~kriz/cifar.html and "
            f"put it, packed or unpacked, into {DATA_FOLDER}."
        ),
        class_names=tuple(name.replace("_", " ") for name in _CIFAR100.split()),
    ),
    DatasetCard(
        id="svhn",
        loader="torchvision_sets:svhn",
        title="SVHN",
        source="Netzer et al., Reading Digits in Natural Images, NIPS workshop 2011; cropped "
        "digits, without the extra training images",
        licence="None stated by the authors; not commercial",
        classes=10,
        shape=(3, 32, 32),
        sizes=(65_931, 7_326, 26_032),
        where=(
            "Fetch train_32x32.mat (182 MB) and test_32x32.mat (64 MB) from "
            f"ufldl.stanford.edu/housenumbers and put them into {DATA_FOLDER}."
        ),
        class_names=tuple("0123456789"),
    ),
    DatasetCard(
        id="mnist",
        loader="torchvision_sets:mnist",
        title="MNIST",
        source="LeCun, Cortes and Burges, 1998",
        licence="None stated by the authors; usually given as CC BY-SA 3.0",
        classes=10,
        shape=(1, 28, 28),
        sizes=(54_000, 6_000, 10_000),
        where=(
            "Fetch the four files train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, "
            "t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz, which "
            f"yann.lecun.com/exdb/mnist names, and put them into MNIST/raw of {DATA_FOLDER}."
        ),
        class_names=tuple("0123456789"),
    ),
    DatasetCard(
        id="tiny-imagenet",
        title="TinyImageNet",
        classes=200,
        sizes=(90_000, 10_000, 10_000),
        **_TINY,
    ),
    DatasetCard(
        id="tiny-imagenet-50",
        title="TinyImageNet, first 50 classes in WordNet-id order",
        classes=50,
        sizes=(22_500, 2_500, 2_500),
        **_TINY,
    ),
    DatasetCard(
        id="imagenet",
        loader="folders:imagenet",
        streamed=True,
        title="ImageNet (ILSVRC-2012)",
        source="Russakovsky et al., IJCV 2015; the published validation images are the test set",
        licence="Research and education, not commercial; registration at image-net.org",
        classes=1000,
        shape=(3, 224, 224),
        sizes=(1_153_050, 128_117, 50_000),
        augmentation=True,
        where=(
            "Register at image-net.org, fetch ILSVRC2012_img_train.tar and ILSVRC2012_img_val.tar "
            f"(144 GB) and unpack them in imagenet of {DATA_FOLDER}: train/WNID/*.JPEG, and "
            "val/WNID/*.JPEG or val/*.JPEG with Kaggle's LOC_val_solution.csv beside it."
        ),
        downstream=("office-home", "cub-200", "domainnet-126"),
    ),
    DatasetCard(
        id="office-home", title="Office-Home, all domains", sizes=(11_223, 1_247, 3_118), **_HOME
    ),
    *(
        DatasetCard(
            id=f"office-home-{domain.lower().replace(' ', '-')}",
            title=f"Office-Home, {domain}",
            about=_divided(images),
            **_HOME,
        )
        for domain, images in (
            ("Art", 2_427),
            ("Clipart", 4_365),
            ("Product", 4_439),
            ("Real World", 4_357),
        )
    ),
    DatasetCard(
        id="cub-200",
        loader="folders:cub_200",
        streamed=True,
        title="CUB-200-2011",
        source="Wah et al., The Caltech-UCSD Birds-200-2011 Dataset, 2011",
        licence="Research and education, not commercial",
        classes=200,
        shape=(3, 224, 224),
        sizes=(5_395, 599, 5_794),
        augmentation=True,
        where=(
            "Fetch CUB_200_2011.tgz (1.1 GB) from www.vision.caltech.edu/datasets/cub_200_2011 and "
            f"unpack it in {DATA_FOLDER}: it becomes CUB_200_2011 with images, images.txt, "
            "image_class_labels.txt, classes.txt and train_test_split.txt."
        ),
    ),
    DatasetCard(
        id="domainnet-126",
        title="DomainNet-126, all domains",
        about=_divided(145_000),
        **_DOMAINNET,
    ),
    *(
        DatasetCard(
            id=f"domainnet-126-{domain}",
            title=f"DomainNet-126, {domain}",
            about=_divided(images),
            **_DOMAINNET,
        )
        for domain, images in (
            ("real", 70_000),
            ("clipart", 19_000),
            ("painting", 31_500),
            ("sketch", 24_500),
        )
    ),
    DatasetCard(
        id="mufac",
        loader="people:mufac",
        title="MUFAC, age of Korean faces",
        source="Choi and Na, Towards Machine Unlearning Benchmarks, 2023, from AI Hub's Korean "
        "families; 10,025 images for training, 1,539 for testing, 1,504 of unseen persons. A "
        "person is one member of one family",
        licence="AI Hub's terms of use",
        classes=8,
        shape=(3, 128, 128),
        about=(9_000, 1_000, 1_539),
        augmentation=True,
        where=(
            "Fetch custom_korean_family_dataset_resolution_128.zip, to which "
            "github.com/ndb796/korean_family_dataset leads, and unpack it in "
            f"custom_korean_family_dataset_resolution_128 of {DATA_FOLDER}: "
            "custom_train_dataset.csv, custom_val_dataset.csv and custom_test_dataset.csv beside "
            "train_images, val_images and test_images."
        ),
        class_names=tuple(
            f"{years} years"
            for years in ("0-6", "7-12", "13-19", "20-30", "31-45", "46-55", "56-66", "67-80")
        ),
        identities=True,
    ),
    _MUCAC,
    *_MUCAC.alone(),
    DatasetCard(
        id="utkface",
        loader="people:utkface",
        title="UTKFace, age by decade",
        source="Zhang, Song and Qi, Age Progression/Regression by Conditional Adversarial "
        "Autoencoder, CVPR 2017; the decades are ours",
        licence="Research, not commercial",
        classes=10,
        shape=(3, 128, 128),
        about=_divided(23_700),
        augmentation=True,
        where=(
            "Fetch UTKFace.tar.gz (aligned and cropped faces) from susanqq.github.io/UTKFace and "
            f"unpack it in {DATA_FOLDER}: it becomes UTKFace with images named "
            "AGE_GENDER_RACE_DATE.jpg."
        ),
        class_names=(
            *(f"{decade}-{decade + 9} years" for decade in range(0, 90, 10)),
            "90 years or more",
        ),
    ),
)
