"""The map: embedded puzzles as points of a plane, by PCA, or by UMAP where it is installed.

PCA is a projection, so distances on it are real ones with the rest left out. UMAP keeps neighbours
together and says nothing by how far groups lie apart.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from selftrain.diversity.vectors import Directions
from selftrain.errors import UsageError

Method = Literal["pca", "umap"]
Points = NDArray[np.float64]


def lay_out(rows: Directions, method: Method, seed: int) -> Points:
    """Give each row a point, shape (rows, 2), rounded to 4 decimals. Only UMAP uses the seed.

    Raises UsageError where UMAP is asked for and missing, or there are too few rows for it.
    """
    points = _umap(rows, seed) if method == "umap" else _pca(rows)
    return points.round(4) + 0.0  # no -0.0


def _pca(rows: Directions) -> Points:
    """Project on the two directions of the largest variance.

    They come from the products of rows, since a map has fewer rows than a hidden state has numbers.
    An axis points where its largest component is positive: else its sign would be chance.
    """
    centred = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    _, vectors = np.linalg.eigh(centred @ centred.T)
    axes = np.zeros((2, rows.shape[1]))
    found = vectors[:, :-3:-1].T @ centred
    axes[: len(found)] = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    largest = axes[[0, 1], np.abs(axes).argmax(axis=1)]
    points: Points = centred @ (axes * np.sign(largest)[:, None]).T
    return points


def _umap(rows: Directions, seed: int) -> Points:
    try:
        from umap import UMAP  # type: ignore[import-not-found]
    except ImportError as error:
        raise UsageError(
            f"--umap needs the package umap-learn ({error}). Install it by "
            "pip install 'selftrain[umap]', or leave --umap out for a map by PCA."
        ) from None
    if len(rows) < 16:  # its default of 15 neighbours
        raise UsageError(f"--umap: {len(rows)} embedded puzzles are too few. Leave --umap out.")
    # One thread, or its result would be another one every time.
    reducer = UMAP(metric="cosine", random_state=seed % 2**32, n_jobs=1)
    points: Points = np.asarray(reducer.fit_transform(rows), dtype=np.float64)
    return points
