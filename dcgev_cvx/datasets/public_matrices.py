"""Matrices of published papers and of scikit-learn's data, for the library of instances.

The covariances of Li and Xie (INFORMS Journal on Computing, 2024) and of Cory-Wright and Pauphilet (sparse PCA with
several components) are downloaded from their repositories at a pinned commit, both under the MIT licence; nothing of
them is in the package.
"""

import numpy as np

from .._numerics.checks import Matrix
from .._numerics.extras import require
from ..errors import DataUnavailable
from .fetched import colon, fetched_file, leukemia
from .integer_pencils import whole_scores

LI_XIE_URL = "https://raw.githubusercontent.com/INFORMSJoC/2022.0372/ef33d6833db6aea663b270eb98d39055df09ea09/data"
CORY_WRIGHT_URL = (
    "https://raw.githubusercontent.com/ryancorywright/MultipleComponentsSoftware/"
    "734066b9fe46b13e0c190c74fc90943f17e48cf4/data"
)
HASHES = {
    "Eisen1": "749c65a287de7d601f9fced033c021c94fc8b2a63f2cf3ae15660ab98b68adef",
    "Eisen2": "bac9c44b301504d6ba4726dc8c5b58d93ff2bcfa9d030a3995a33d2b91d80772",
    "arrhythmia": "4bc45ffcacc11af19afb018bbfc23852bb3c221a804343fce27b0c406dd25210",
    "buzz": "5c5b1d6b7e9f0b2567450212fe43c62d1deb120e7677ca2abe8ea65490cc2a3c",
    "communities": "b55a24bb1188496142536c17ac8c7c81dd8e4484e885b5d09b6a36ff7a4de231",
    "dermatology": "2bc17ce378fe35f15ab0c25b23d614c1e5eaedc28a21403ce760799d05a45e95",
    "digits": "613cf74977c6473b3b348617b1e78038cb300b579b7d9c9dc22d6336050fe3e5",
    "gait": "21fe57b5406b0059d30500c8cc331a7bee31acf966331fa9c06aea3c0486140f",
    "gas": "5254b84eec2b372edbf54cd721803cf151623b94b54d4f12a22673546b907d0c",
    "gastro": "3f78e0a56e269731c730bc81aa269edabaf1f9439281c482fea1249291d2e694",
    "geography": "b5d28077f66908b960ec5454be13b2f242baecdcaeef649ad5593c68d5497484",
    "housing": "c312b9838396fbc7a4f8fb89901dda6d72b8248fccddd87b10a668170dd00b57",
    "ionosphere": "1e51b91c52e982b40da99ad7b366db17e3e51ea2cd90decfd0ae0b6cb217c939",
    "keggdirected": "085244890e10cfde6f56c5d17135c3d207af228c5bcacefffcd513252262f917",
    "lung": "a17eeb3786c046de3c5e00f4ec65f557931e040504ec26810990fb114296823b",
    "pitprops": "ef8d4309c18cf25afbf975f03b4f5c4390f519c29219709d4729b4c7a078a6d2",
    "pol": "97b84eb9dd83c9dd23d2b3e2391339ad490f99ea4ff277bc76e1a3f56ac2a564",
    "song": "b27af18b1566cacf4a156e637102fa3191186dbd7ed090365d4bdf4a839026ed",
    "spambase": "027fadb6a664656063bdb98a701fb58b3240f4568f986cfd4b8ff7913aaaa622",
    "voice": "595374c03e3c764ddba217495e556f63e85e4928c7591db35c64bbc3574fb5b2",
    "wdbc": "486d436bf7dfe310bcfa5c26e29d857f40179d3f06f5a7a38a6bf9941158e676",
}
"""The SHA-256 of each file."""


def li_xie(name: str) -> Matrix:
    """A covariance matrix of Li and Xie: a table whose first row and column are running numbers."""
    path = fetched_file(f"{name}.csv", f"{LI_XIE_URL}/{name}_txt", HASHES[name])
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)[:, 1:]


def cory_wright(name: str, table: str) -> Matrix:
    """A covariance or correlation matrix of Cory-Wright and Pauphilet, in the HDF5 of Julia's JLD."""
    path = fetched_file(f"{name}.jld", f"{CORY_WRIGHT_URL}/{name}.jld", HASHES[name])
    try:
        with require("h5py", "data").File(path, "r") as file:
            matrix = np.array(file[table], dtype=np.float64)
    except (OSError, KeyError) as cause:
        raise DataUnavailable(f"{path} cannot be read as a JLD file: {cause}") from cause
    return 0.5 * (matrix + matrix.T)


def gene_scores(name: str, genes: int) -> Matrix:
    """The genes of largest variance of the colon or leukemia data, standardised and rounded."""
    X = colon() if name == "colon" else leukemia()
    return whole_scores(X[:, np.sort(np.argsort(-X.var(axis=0), kind="stable")[:genes])])


def sklearn_data(name: str) -> tuple[Matrix, Matrix]:
    """X and y of a data set that comes with scikit-learn: "wine", "breast_cancer", "digits" or "diabetes"."""
    load = getattr(require("sklearn.datasets", "estimators"), f"load_{name}")
    X, y = load(return_X_y=True)
    return np.asarray(X, dtype=np.float64), np.asarray(y)
